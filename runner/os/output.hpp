#pragma once
// What leaves the program, on stdout, stderr and in the files of --json, --csv and so on: all of it
// goes through here.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kzoo {

// Takes a long text piece by piece.
using text_sink = std::function<void(std::string_view)>;

// Whether the stream is a terminal that understands escape sequences: TERM is set, and not to
// "dumb".
bool is_terminal(std::FILE* stream);
// The number of columns of a terminal.
std::size_t columns_of(std::FILE* stream);

// The text in a colour of terminals, such as "31", between marks that only this process knows, so
// that no text of others can hold one.
std::string coloured(std::string_view text, std::string_view colour);
// What is written of a text: characters that are not printable are escaped (printable.hpp), except
// line breaks, and marks become escape sequences.
std::string safe_text(std::string_view text);

// Writes safe_text(). False if it cannot be written.
bool write_text(std::FILE* to, std::string_view text);

template <class... Arguments>
void print_to(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_text(to, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace kzoo
