#pragma once
// Names a kernel: a variant of a plugin.

#include <kzoo/identifier.hpp>

#include <compare>
#include <cstddef>
#include <string>

namespace kzoo {

// Longest id of a plugin or variant.
inline constexpr std::size_t kLongestIdentifier = 100;

struct kernel_id {
  std::string plugin;   // its file's name: what users type
  std::string variant;  // empty if the plugin could not be asked for its variants

  // "plugin:variant", or the plugin alone.
  std::string name() const { return variant.empty() ? plugin : plugin + ":" + variant; }

  auto operator<=>(const kernel_id&) const = default;
};

}  // namespace kzoo
