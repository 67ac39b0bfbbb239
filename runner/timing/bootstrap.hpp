#pragma once
// Confidence intervals of a median and of a ratio of two medians: percentile bootstraps (Efron
// 1979) with a fixed seed, so that the same samples give the same interval. With few values such an
// interval is too narrow: with ten it covers the true value 94 times in 100. It is therefore
// widened, to the percentiles at which the interval of a mean would be as wide as Student's t
// interval ("expanded percentile interval": Hesterberg, What Teachers Should Know About the
// Bootstrap, 2015).
//
// Whole turns are resampled, not single samples, because the samples of one turn are not
// independent: they share its memory addresses, its clocks and whatever else ran at that time.

#include "timing/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace kzoo::timing {

// With fewer turns than this, of either kernel, there is no interval.
inline constexpr std::size_t kFewestTurns = 5;

struct interval {  // 95 % confidence
  double low, high;
};

struct ratio {
  double value = 1;
  std::optional<interval> likely;

  // The two do not differ significantly: the interval contains 1.
  bool tie() const { return likely && likely->low <= 1 && 1 <= likely->high; }
};

std::optional<interval> interval_of_median(std::span<const double> values);

// `a` over `b`, both of the same run: the median of the ratios within each round that both took
// part in. What slows both of them in a round, a lower clock for example, cancels out of the ratio
// and of its interval. Without a common round, ratio_of_medians().
ratio paired_ratio(const summary& a, const summary& b);

// The median of `a` over that of `b`, from different runs. There is no interval if any time is
// zero.
ratio ratio_of_medians(const summary& a, const summary& b);

}  // namespace kzoo::timing
