#pragma once
// All output of the program goes through here: stdout, stderr and files of --json, --csv and so on.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kzoo {

// Takes a long text piece by piece.
using text_sink = std::function<void(std::string_view)>;

// Whether the stream is a terminal with escape sequences: TERM is set, and not to "dumb".
bool is_terminal(std::FILE* stream);
// The number of columns of a terminal.
std::size_t columns_of(std::FILE* stream);

// Text in a terminal colour such as "31", between marks that no other text can contain.
std::string coloured(std::string_view text, std::string_view colour);
// Escapes unprintable characters, except line breaks; turns marks into escape sequences.
std::string safe_text(std::string_view text);

// Writes safe_text(). Returns false on failure.
bool write_text(std::FILE* to, std::string_view text);

template <class... Arguments>
void print_to(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_text(to, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace kzoo
