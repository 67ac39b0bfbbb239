#pragma once
// How sure a ratio of two medians is.

#include <cstddef>
#include <optional>
#include <span>

namespace kzoo::timing {

// With fewer samples than this on either side no interval means anything.
inline constexpr std::size_t kFewestSamples = 5;

struct ratio {
  double value = 1;
  struct interval {
    double low, high;
  };
  std::optional<interval> likely;  // 95 %
};

// The median of `a` over that of `b`, neither empty; a sample of zero leaves no interval. The
// interval is the percentile
// bootstrap's (Efron 1979) over independent resamples of both, from a seed that never changes: the
// same samples give the same interval.
ratio ratio_of_medians(std::span<const double> a, std::span<const double> b);

}  // namespace kzoo::timing
