#include "timing/sm_clock.hpp"

#include "timing/summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kzoo::timing {

double sm_clock_mhz(std::span<const clock_stamp> before, std::span<const clock_stamp> after,
                    unsigned long long tick) {
  constexpr double kCoarsestTick = 0.02;  // as a share of the time between the stamps
  std::vector<double> clocks;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const clock_stamp &a = before[i], &b = after[i];
    if (a.nanoseconds == 0 || b.nanoseconds <= a.nanoseconds || b.cycles <= a.cycles) continue;
    const auto elapsed = static_cast<double>(b.nanoseconds - a.nanoseconds);
    if (static_cast<double>(tick) > kCoarsestTick * elapsed) continue;
    constexpr double kMhzPerGhz = 1000;  // a cycle per nanosecond is a GHz
    clocks.push_back(kMhzPerGhz * static_cast<double>(b.cycles - a.cycles) / elapsed);
  }
  return clocks.empty() ? 0 : std::round(median(clocks));
}

bool is_throttled(const sample_state& s, double highest_mhz) {
  if (s.slowed_down) return true;
  const bool low = s.sm_mhz > 0 && s.sm_mhz < kLeastClockShare * highest_mhz;
  return low && !s.power_capped;
}

bool throttle_filter::accepts(const sample_state& s) {
  if (!is_throttled(s, highest_mhz_)) return true;
  if (!may_discard()) {
    low_clock_ = true;
    return true;
  }
  ++discarded_;
  return false;
}

}  // namespace kzoo::timing
