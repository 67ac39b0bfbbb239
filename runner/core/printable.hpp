#pragma once
// Untrusted text, made safe for a terminal or for a file name.

#include <string>
#include <string_view>

namespace kzoo {

// Line breaks and tabs become spaces, other control characters are escaped as \x1b, and text is cut
// after kLongestText bytes.
inline constexpr std::size_t kLongestText = 2000;
std::string printable(std::string_view text);

// Letters, digits, '_' and '.' stay, all other characters become hyphens: a file name that needs no
// quotes in a shell.
std::string file_name_from(std::string text);

}  // namespace kzoo
