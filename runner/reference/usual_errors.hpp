#pragma once
// How large the rounding errors of a right kernel are on average. The bound of tolerance.hpp has
// room for the worst element, and for sums that are cut off: three products of bf16 parts, which
// hold 16 bits of 24, stay within it from K = 300 on. Their average is 4.8 times what is usual at
// K = 1024, and 1.6 times at 16384.

#include "core/problem.hpp"
#include "reference/expected_result.hpp"

#include <cstdint>

namespace kzoo::reference {

// Of sums that round to nearest, in fp32 or fp64, of terms that are zero-mean and alike in
// magnitude. Partial sums then grow like random walks, and the error of the sum, of K roundings, is
// 0.40 u S on average (root mean square) at any K: 0.46 where products of normal numbers are
// summed. That is of the plainest order, one term after the other; all others have shorter walks.
// Roundings of products, alpha and beta count where K is small: up to 0.62 u S.
inline constexpr double kUsualWalk = 0.55, kUsualEnds = 0.5;
// Sums that begin at beta C0 round K times at its magnitude, by 0.43 u of it on average.
inline constexpr double kUsualStart = 0.5;

class usual_errors {
 public:
  usual_errors(const problem& p, kzoo_precision declared);

  // Whether a declaration, and the numbers, say what errors are on average.
  bool known() const { return unit_ > 0; }
  // The root mean square of what the error of such an element may be.
  double of(const sizes& element) const {
    const double start = element.sum - element.products;
    return unit_ *
               (element.gain * (per_sum_ * element.sum + per_start_ * start) + element.roundings) +
           element.extra + tiny_;
  }
  // How many times that the root mean square over so many elements may be: by eight standard
  // deviations, as errors of random walks have them, and more of a few elements.
  static double most(std::int64_t elements);

 private:
  double unit_ = 0;  // of the declared accumulators; 0: nothing is known
  double per_sum_ = 0, per_start_ = 0, tiny_ = 0;
};

}  // namespace kzoo::reference
