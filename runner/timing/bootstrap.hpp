#pragma once
// Confidence intervals of a median and of a ratio of two medians: percentile bootstraps (Efron
// 1979) with a fixed seed, so that equal samples give equal intervals. Few values make such an
// interval too narrow: with ten it covers the true value 94 times in 100. Therefore it is widened
// to the percentiles at which a mean's interval would be as wide as Student's t interval ("expanded
// percentile interval": Hesterberg, What Teachers Should Know About the Bootstrap, 2015).
//
// Whole turns are resampled, since samples of one turn are not independent: they share memory
// addresses, clocks and other load.

#include "timing/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace kzoo::timing {

// With fewer turns of either kernel there is no interval.
inline constexpr std::size_t kFewestTurns = 5;

struct interval {  // 95 % confidence
  double low, high;
};

struct ratio {
  double value = 1;
  std::optional<interval> likely;

  // The kernels do not differ significantly: the interval contains 1.
  bool tie() const { return likely && likely->low <= 1 && 1 <= likely->high; }
};

std::optional<interval> interval_of_median(std::span<const double> values);

// `a` over `b`, from one run: the median of the ratios within each common round. Whatever slows
// both in a round, such as a lower clock, cancels out of the ratio and its interval. Without a
// common round, ratio_of_medians().
ratio paired_ratio(const summary& a, const summary& b);

// The ratio of the medians of `a` and `b`, from different runs. No interval if any time is zero.
ratio ratio_of_medians(const summary& a, const summary& b);

}  // namespace kzoo::timing
