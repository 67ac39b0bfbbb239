#pragma once
// The names of plugins and variants, which stand in selectors, file names and shells.

#include <algorithm>
#include <string_view>

namespace kzoo {

// Letters, digits, '_', '.' and '-', and what is in `extra`; not empty.
inline bool is_identifier(std::string_view text, std::string_view extra = "") {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || extra.find(c) != std::string_view::npos;
  });
}

}  // namespace kzoo
