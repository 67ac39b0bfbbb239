// The caller's list of launches, set while a plugin's `run` is called with such a list.
#pragma once

#include <kzoo/abi.h>
#include <kzoo/launch_config.hpp>

#include <cstddef>
#include <cstring>

namespace kzoo::detail {

// For the thread that runs the plugin; usually null.
inline thread_local kzoo_launch_list* wanted_launches = nullptr;

class launch_list_scope {
 public:
  explicit launch_list_scope(kzoo_launch_list* list) { wanted_launches = list; }
  ~launch_list_scope() { wanted_launches = nullptr; }
  launch_list_scope(const launch_list_scope&) = delete;
  launch_list_scope& operator=(const launch_list_scope&) = delete;
};

// The list's next entry with the launch's shape and its kernel's symbol (null: unknown), or null if
// there is no list or no room.
inline kzoo_launch* next_launch(const launch_config& config, const char* kernel) {
  kzoo_launch_list* list = wanted_launches;
  if (list == nullptr || list->count >= list->capacity) return nullptr;
  auto* bytes = reinterpret_cast<char*>(list->launches) + std::size_t{list->count++} * list->stride;
  auto& entry = *reinterpret_cast<kzoo_launch*>(bytes);
  // An entry of a runner with minor version 2 ends before the symbol.
  const bool has_kernel = list->stride >= sizeof(kzoo_launch);
  std::memset(bytes, 0, has_kernel ? sizeof(kzoo_launch) : offsetof(kzoo_launch, kernel));
  if (has_kernel) entry.kernel = kernel;
  const auto copy = [](std::uint32_t(&to)[3], const dim3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  copy(entry.grid, config.grid);
  copy(entry.block, config.block);
  entry.dynamic_shared = config.dynamic_shared;
  return &entry;
}

}  // namespace kzoo::detail
