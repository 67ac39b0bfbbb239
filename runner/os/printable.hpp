#pragma once
// Makes untrusted text safe for a terminal or a file name.

#include <string>
#include <string_view>

namespace kzoo {

// The first character of a UTF-8 text, which must not be empty.
struct character {
  std::string_view bytes;
  // False for control characters (C0, DEL and C1), for characters that change text direction or
  // break lines, and for a byte that is not UTF-8.
  bool is_printable;
};
character first_character(std::string_view text);
// Escapes a character: \x1b for a byte, \u202e for a code point.
std::string escaped(std::string_view bytes);

// The longest text accepted from a plugin, in bytes.
inline constexpr std::size_t kLongestText = 2000;
// Line breaks and tabs become spaces. Escapes unprintable characters. Cuts at `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

// Like printable(), but keeps line breaks, except at the beginning and the end.
std::string printable_lines(std::string_view text, std::size_t longest = std::string_view::npos);
std::string_view first_line(std::string_view text);

// Why the dynamic loader refused a library: MESSAGE in Boost's text `what`, "… (dlerror system
// message: FILE: MESSAGE): …".
std::string loader_message(std::string_view what, const std::string& file);

// Keeps letters, digits, '_' and '.'; other characters become hyphens. Such a part of a file name
// needs no quotes in a shell. Cut after 100 characters, since a file's name is limited to 255.
std::string file_name_from(std::string text);

// A word of a command line to copy: in quotes where a shell needs them.
std::string shell_word(const std::string& text);

}  // namespace kzoo
