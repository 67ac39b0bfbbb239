#pragma once
// Untrusted text, made safe for a terminal or for a file name.

#include <string>
#include <string_view>

namespace kzoo {

// The first character of a UTF-8 text, which must not be empty.
struct character {
  std::string_view bytes;
  // False for control characters (C0, DEL and C1), for those that change the direction of text or
  // break lines, and for a byte that is not UTF-8.
  bool is_printable;
};
character first_character(std::string_view text);
// What stands for a character that is not printable: \x1b for a byte, \u202e for a code point.
std::string escaped(std::string_view bytes);

// The longest text that is taken from a plugin, in bytes.
inline constexpr std::size_t kLongestText = 2000;
// Line breaks and tabs become spaces, other characters that are not printable are escaped, and text
// is cut after `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

// The same with its line breaks, but for those that it begins and ends with.
std::string printable_lines(std::string_view text, std::size_t longest = std::string_view::npos);
// Up to its first line break.
std::string_view first_line(std::string_view text);

// Why the dynamic loader refused a library: MESSAGE of `what`, the text that Boost puts around it,
// "… (dlerror system message: FILE: MESSAGE): …".
std::string loader_message(std::string_view what, const std::string& file);

// Letters, digits, '_' and '.' stay, all other characters become hyphens: a part of a file name
// that needs no quotes in a shell. Cut after 100 characters, since a file's name is limited to 255.
std::string file_name_from(std::string text);

// One word of a command line that is shown to be copied: in quotes where a shell needs them.
std::string shell_word(const std::string& text);

}  // namespace kzoo
