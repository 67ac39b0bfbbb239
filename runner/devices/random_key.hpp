#pragma once
// Keys that nobody can know before they are drawn.

#include <cstdint>
#include <random>

namespace kzoo::devices {

// From the system, each time: a generator's state would be in memory, where a plugin can read it.
inline std::uint64_t random_key() {
  static std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace kzoo::devices
