#pragma once
// Text for people, on stdout and stderr: all of it goes through here.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
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

// Writes the text. Characters that are not printable are escaped (printable.hpp), except line
// breaks and the colours of report/text.hpp.
void write_text(std::FILE* to, std::string_view text);

template <class... Arguments>
void print_to(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_text(to, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Writes data for programs as it is, but to a terminal like text. False if it cannot be written.
bool write_data(std::FILE* to, std::string_view data);

}  // namespace kzoo
