#pragma once
// How sure a median is, or a ratio of two: percentile bootstraps (Efron 1979) from a seed that
// never changes, so that the same samples give the same interval. Of few values such an interval is
// too narrow: of ten it holds the truth 94 times in 100. So it is taken further out, to the
// percentiles at which that of a mean has the width of Student's interval ("expanded percentile
// interval": Hesterberg, What Teachers Should Know About the Bootstrap, 2015).
//
// What is drawn again is whole turns and not single samples: the samples of one turn have the
// addresses, the clocks and the neighbours of that turn in common.

#include "timing/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace kzoo::timing {

// With fewer turns than this on either side no interval means anything.
inline constexpr std::size_t kFewestTurns = 5;

struct interval {  // 95 %
  double low, high;
};

struct ratio {
  double value = 1;
  std::optional<interval> likely;

  // Nobody can tell the two apart.
  bool tie() const { return likely && likely->low <= 1 && 1 <= likely->high; }
};

std::optional<interval> interval_of_median(std::span<const double> values);

// `a` over `b`, of the same run: the median of the ratios within the rounds that both took part in.
// What a round did to both of them, a lower clock say, is in neither the ratio nor its interval.
// Where they have no round in common it is ratio_of_medians().
ratio paired_ratio(const summary& a, const summary& b);

// The median of `a` over that of `b`, of two runs. Times of zero leave no interval.
ratio ratio_of_medians(const summary& a, const summary& b);

}  // namespace kzoo::timing
