#pragma once
// Text styles, on a terminal and in Markdown.

#include <string>
#include <string_view>

namespace kzoo::report {

enum class style { plain, good, bad, dim, bold };

// The text, safe for a terminal (core/printable.hpp), with colour codes if `colour`.
std::string styled(std::string_view words, style s, bool colour);

// The same for Markdown: markup is escaped, line breaks become spaces, and the styles bad and bold
// are set in bold.
std::string markdown(std::string_view words, style s = style::plain);

// The beginning of the text, safe for a terminal, that is at most so wide.
std::string shortened(std::string_view text, std::size_t most);

// The width on a terminal: characters, not bytes.
std::size_t width(std::string_view utf8);

}  // namespace kzoo::report
