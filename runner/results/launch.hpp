#pragma once

#include <array>
#include <cstdint>

namespace kzoo::results {

// One kernel launch: kzoo_launch, in the same units.
struct launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  std::uint32_t registers = 0, resident_warps = 0, most_warps = 0;
};

}  // namespace kzoo::results
