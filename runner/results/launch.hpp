#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kzoo::results {

// A kernel launch: kzoo_launch, in the same units.
struct launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  std::uint32_t registers = 0, resident_warps = 0, most_warps = 0;

  double occupancy() const { return double(resident_warps) / double(most_warps); }
};

// The launch with the lowest occupancy: the GEMM's, where others convert operands or add sums. Null
// if no occupancy is known (libraries, the cpu device).
inline const launch* main_launch(const std::vector<launch>& all) {
  const launch* found = nullptr;
  for (const launch& one : all) {
    if (one.most_warps == 0) continue;
    if (found == nullptr || one.occupancy() < found->occupancy()) found = &one;
  }
  return found;
}

}  // namespace kzoo::results
