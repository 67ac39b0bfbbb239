#pragma once
// Text styles, on a terminal and in Markdown.

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::report {

enum class style { plain, good, bad, dim, bold };

// The text, safe for a terminal (os/printable.hpp), coloured (os/output.hpp) if `colour`.
std::string styled(std::string_view words, style s, bool colour);

// The same for Markdown: markup is escaped, line breaks become spaces, and the styles bad and bold
// are set in bold.
std::string markdown(std::string_view words, style s = style::plain);

// The same for HTML, in an element or an attribute between quotes.
std::string html(std::string_view words, style s = style::plain);

// The beginning of the text, safe for a terminal, that is at most so wide.
std::string shortened(std::string_view text, std::size_t most);

// A name in lines of at most that width, broken after one of ":_@, " where that is possible.
std::vector<std::string> wrapped(std::string_view name, std::size_t most);

// Prose in lines of at most that width, broken at spaces; a longer word has a line of its own. Safe
// for a terminal.
std::vector<std::string> folded(std::string_view text, std::size_t most);
// How wide prose is in files and pipes, where tables have no limit.
inline constexpr std::size_t kWidestProse = 400;

// Appends to a list: "1 pass, 2 wrong".
void add_item(std::string& list, std::string_view item);

// The first `most` names: "a, b, c and 2 more".
std::string some_of(std::vector<std::string> names, std::size_t most);

// No limit to how wide a line is: of files and pipes.
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// The width on a terminal: characters, not bytes.
std::size_t width(std::string_view utf8);

}  // namespace kzoo::report
