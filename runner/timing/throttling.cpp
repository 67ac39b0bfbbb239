#include "timing/throttling.hpp"

namespace kzoo::timing {

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
