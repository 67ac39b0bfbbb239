#pragma once
// The cost of a warp's request. Rules for shared memory were found on an H200: docs/xray.md.

#include <array>
#include <cstdint>

namespace kzoo::xray {

inline constexpr unsigned kWarp = 32, kSectorBytes = 32, kBanks = 32, kBankBytes = 4;

// An instruction of a warp: the active lanes, and the address at which each accesses `bytes`.
struct warp_access {
  std::uint32_t mask = 0;
  unsigned bytes = 0;
  std::array<std::uint64_t, kWarp> address{};

  bool active(unsigned lane) const { return (mask >> lane & 1) != 0; }
};

struct cost {
  unsigned passes = 0;  // sectors, or wavefronts
  unsigned ideal = 0;   // the fewest for the same bytes
  unsigned bytes = 0;   // distinct bytes
};

cost global_cost(const warp_access& a);
cost shared_cost(const warp_access& a, bool load);

}  // namespace kzoo::xray
