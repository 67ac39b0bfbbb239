#pragma once
// Text that picks kernels: `name`, `name:variant` or a glob of either ("*", "smem:*",
// "cublas:fp32").

#include "core/location.hpp"

#include <string>
#include <string_view>

namespace kzoo {

struct selector {
  std::string text;
  location where;
};

bool is_selector(std::string_view text);
// As a selector, without * and ?: one plugin, or one variant.
bool is_kernel_name(std::string_view text);

// Does the selector's text name this variant? With `variant` empty: this plugin, or at least
// something in it, so "smem:16x16" matches the plugin smem.
bool matches(std::string_view selector, std::string_view plugin, std::string_view variant);

}  // namespace kzoo
