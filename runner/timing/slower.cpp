#include "timing/slower.hpp"

namespace kzoo::timing {

bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between) {
  // Saves the interval's many resamples.
  if (a.median_ms <= (1 + margin) * fastest.median_ms) return false;
  const ratio r = widened(paired_ratio(a, fastest), a, fastest, between);
  return r.likely && r.likely->low > 1 + margin;
}

}  // namespace kzoo::timing
