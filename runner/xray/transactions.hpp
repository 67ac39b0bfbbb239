#pragma once
// What one request of a warp costs the memory system. The rules for shared memory were found on an
// H200 with Nsight Compute: docs/xray.md.

#include <array>
#include <cstdint>

namespace kzoo::xray {

inline constexpr unsigned kWarp = 32, kSectorBytes = 32, kBanks = 32, kBankBytes = 4;

// One instruction of one warp: the active lanes, and where each of them accesses `bytes`.
struct warp_access {
  std::uint32_t mask = 0;
  unsigned bytes = 0;
  std::array<std::uint64_t, kWarp> address{};

  bool active(unsigned lane) const { return (mask >> lane & 1) != 0; }
};

struct cost {
  unsigned passes = 0;  // sectors, or wavefronts
  unsigned ideal = 0;   // the fewest for the same bytes
  unsigned bytes = 0;   // different ones
};

cost global_cost(const warp_access& a);
cost shared_cost(const warp_access& a, bool load);

}  // namespace kzoo::xray
