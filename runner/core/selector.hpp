#pragma once
// Text that selects kernels: `name`, `name:variant` or a glob of either ("*", "smem:*").

#include "core/location.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kzoo {

struct selector {
  std::string text;
  location where;
};

// A plugin by its file, as a shell completes it: "./mine.cu", "mine.cu:16x16", "build/mine.so", or
// a folder, "kernels/". Recognised by a slash or by .cu, .cuh, .cpp, .so or .toml at the end.
struct file_selector {
  std::string path, variant;  // "": all
};
std::optional<file_selector> as_file(std::string_view text);

bool is_selector(std::string_view text);
// A selector without * and ?: one plugin, or one variant.
bool is_kernel_name(std::string_view text);

// Whether the selector matches this variant. With `variant` empty: whether it matches the plugin or
// could match a variant of it, so "smem:16x16" matches the plugin smem.
bool matches(std::string_view selector, std::string_view plugin, std::string_view variant);

}  // namespace kzoo
