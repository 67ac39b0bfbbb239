#pragma once
// Keys that nobody can know before they are drawn.

#include <cstdint>
#include <random>

namespace kzoo::devices {

// Asks the system each time: a plugin could read a generator's state in memory.
inline std::uint64_t random_key() {
  static std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace kzoo::devices
