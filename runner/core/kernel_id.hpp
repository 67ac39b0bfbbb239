#pragma once
// Which kernel: a variant of a plugin. Their names appear in selectors, file names and shell
// commands.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace kzoo {

// A plugin's or variant's id may be so long.
inline constexpr std::size_t kLongestIdentifier = 100;

// Whether the text is not empty and holds only letters, digits, '_', '.', '-' and the characters in
// `extra`.
inline bool is_identifier(std::string_view text, std::string_view extra = "") {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '-' || extra.find(c) != std::string_view::npos;
  });
}

struct kernel_id {
  std::string plugin;   // its file's name: what users type
  std::string variant;  // empty where the plugin could not be asked for its variants

  // "plugin:variant", or the plugin alone.
  std::string name() const { return variant.empty() ? plugin : plugin + ":" + variant; }

  auto operator<=>(const kernel_id&) const = default;
};

}  // namespace kzoo
