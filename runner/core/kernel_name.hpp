#pragma once
// Names of kernels, and text that selects them.

#include "core/location.hpp"

#include <kzoo/identifier.hpp>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

// Text that selects kernels: `name`, `name:variant` or a glob of either ("*", "smem:*").

struct selector {
  std::string text;
  location where;
};

// A plugin by its file, as a shell completes it: "./mine.cu", "mine.cu:16x16", "build/mine.so", or
// a folder, "kernels/". Recognised by a slash or by .cu, .cuh, .cpp, .so or .toml at the end.
struct file_selector {
  std::string path;
  std::string variant;  // empty: all variants
};
std::optional<file_selector> as_file(std::string_view text);

bool is_selector(std::string_view text);
// A selector without * and ?: one plugin, or one variant.
bool is_kernel_name(std::string_view text);

// Whether the selector matches this variant. With `variant` empty: whether it matches the plugin or
// could match a variant of it, so "smem:16x16" matches the plugin smem.
bool matches(std::string_view selector, std::string_view plugin, std::string_view variant);

// The name of a __global__ function for people. Demangles like c++filt; returns other names
// unchanged.
std::string demangled(const std::string& name);
// Shortens "void (anonymous namespace)::f<(int)8, float>(T1)" to "f<8, float>".
std::string short_kernel_name(std::string demangled);

}  // namespace kzoo
