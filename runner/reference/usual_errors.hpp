#pragma once
// The average rounding errors of a right kernel. tolerance.hpp's bound allows for the worst element
// and for truncated sums. Three products of bf16 parts (16 bits of 24) meet it from K = 300 on. But
// their average error is 4.8 times the usual at K = 1024, and 1.6 times at 16384.

#include "core/problem.hpp"
#include "reference/expected_result.hpp"

#include <cstdint>

namespace kzoo::reference {

// For sums that round to nearest, in fp32 or fp64, of zero-mean terms of similar magnitude. Partial
// sums grow like random walks. After K roundings the root mean square error is 0.40 u S at any K;
// 0.46 u S for products of normal numbers. This holds for sequential sums; other orders have
// shorter walks. Roundings of products, alpha and beta count if K is small: up to 0.62 u S.
inline constexpr double kUsualWalk = 0.55, kUsualEnds = 0.5;
// Sums that begin at beta C0 round K times at its magnitude, by 0.43 u of it on average.
inline constexpr double kUsualStart = 0.5;

class usual_errors {
 public:
  usual_errors(const problem& p, kzoo_precision declared);

  // Whether the declaration and the fill determine average errors.
  bool known() const { return unit_ > 0; }
  // The root mean square of an element's possible error.
  double of(const sizes& element) const {
    const double start = element.sum - element.products;
    return unit_ *
               (element.gain * (per_sum_ * element.sum + per_start_ * start) + element.roundings) +
           element.extra + tiny_;
  }
  // Allowed multiple of the root mean square: eight deviations, more for few elements.
  static double most(std::int64_t elements);

 private:
  double unit_ = 0;  // of the declared accumulators; 0: unknown
  double per_sum_ = 0, per_start_ = 0, tiny_ = 0;
};

}  // namespace kzoo::reference
