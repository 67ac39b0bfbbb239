#include "xray/merged_loads.hpp"

#include <bit>

namespace kzoo::xray {
namespace {

constexpr std::uint64_t kVectorBytes = 16;

}  // namespace

bool merged_loads::same_phase(const warp_access& a) {
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  for (unsigned lane = first; lane < kWarp; ++lane)
    if (a.active(lane) && (a.address[lane] - a.address[first]) % kVectorBytes != 0) return false;
  return a.address[first] % kBankBytes == 0;
}

void merged_loads::add(std::uint32_t site, const warp_access& a) {
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  const std::uint64_t phase = a.address[first] % kVectorBytes;
  std::uint64_t others = 0;
  for (unsigned lane = first; lane < kWarp; ++lane) {
    if (a.active(lane))
      others =
          others * 0x9e3779b97f4a7c15u + (a.address[lane] - a.address[first]) / kVectorBytes + 1;
  }
  group& g = groups_[{site, a.mask, a.address[first] - phase, others}];
  if (g.words == 0) {
    g.base = a;
    for (unsigned lane = 0; lane < kWarp; ++lane)
      g.base.address[lane] -= a.active(lane) ? phase : 0;
  }
  g.words |= 1u << phase / kBankBytes;
}

}  // namespace kzoo::xray
