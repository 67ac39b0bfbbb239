#pragma once
// Text from outside, made harmless for a terminal.

#include <string>
#include <string_view>

namespace kzoo {

// Line breaks and tabs become spaces, other control characters are escaped as \x1b; and no more
// than kLongestText bytes.
inline constexpr std::size_t kLongestText = 2000;
std::string printable(std::string_view text);

}  // namespace kzoo
