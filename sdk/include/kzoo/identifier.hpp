#pragma once
// Names of plugins and variants, for selectors, file names and shell commands.

#include <algorithm>
#include <string_view>

namespace kzoo {

// Whether the text is not empty and has only letters, digits, '_', '.', '-' and characters of
// `extra`.
inline bool is_identifier(std::string_view text, std::string_view extra = "") {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || extra.find(c) != std::string_view::npos;
  });
}

}  // namespace kzoo
