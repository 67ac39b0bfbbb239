#pragma once
// Text from outside, made harmless for a terminal, or for a file's name.

#include <string>
#include <string_view>

namespace kzoo {

// Line breaks and tabs become spaces, other control characters are escaped as \x1b; and no more
// than kLongestText bytes.
inline constexpr std::size_t kLongestText = 2000;
std::string printable(std::string_view text);

// What may stand in a file's name without being quoted in a shell; hyphens for the rest.
std::string file_name_from(std::string text);

}  // namespace kzoo
