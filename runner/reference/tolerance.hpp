#pragma once
// Bounds of rounding errors, from the types involved: of each element, and on average.

#include "core/problem.hpp"
#include "reference/expected_result.hpp"

#include <cstdint>
#include <limits>

namespace kzoo::reference {

// The allowed error of each element. u = 2^-24; 2^-53 for declared fp64; 2^-11 for fp16
// accumulators:
//   |C^ - C| <= u * (kGrowth * sqrt(K) + kSlack) * S     S = |alpha| |A||B| + |beta| |C0|
//             + u * kWalk * sqrt(K) * |beta| |C0|
//                                          accumulators that start at beta C0 round K times at its
//                                          magnitude
//             + 2 * u_in * min(1, kWalk / sqrt(K)) * |alpha| |A||B|
//                                          inputs declared narrower than the element type, or than
//                                          int4 weights with scales; TF32: u_in = 2^-10, since the
//                                          low bits are cut off
//             + 2^-13 * min(kFp8Most, kFp8Walk / sqrt(K)) * |alpha| |A||B|
//                                          declared fp8: tensor cores keep 14 bits of a sum of up
//                                          to 256 products
//             + u_out * |C|                16-bit C: one rounding to the output type
//             + u_out * (|C| + |beta| |C0|)
//                                          16-bit C, beta not 0: A B may be rounded to the output
//                                          type before beta C0 is added, as in cuBLAS
//             + tiny                       half the output type's smallest subnormal, twice if
//                                          beta C0 is a second term
// epilogue.hpp transforms the sum of all but the rounding of C. Then C rounds once, from fp32.
//
// Data are zero-mean, so partial sums and input errors grow like random walks. A sequential fp32
// sum stays under 6 u S for every K. Tensor cores, which truncate sums at every fourth term, need
// 0.6 u sqrt(K) S, and TF32 inputs half of kWalk.
//
// No error is allowed if S = 0, for integer types, and for sums of integers (integer fills, alpha
// and beta), which are exact in any order: in fp32 for S < 2^24, in fp64 below 2^53, with fp16
// accumulators below 2^11, in fp8 below 2^13. For integers times powers of two, S counts in units
// of sizes::unit. If only one product of K is not 0, K counts as 1.
inline constexpr double kGrowth = 1.0;
inline constexpr double kSlack = 6.0;
inline constexpr double kWalk = 4.0;
inline constexpr double kFp8Unit = 0x1p-13;
inline constexpr double kFp8Most = 4.0;
inline constexpr double kFp8Walk = 32.0;
// For declared fp32_normwise, the first two lines are instead
//             u * (kLevelGrowth * sqrt(K) + kLevelSlack) * N     N = |alpha| K ||A|| ||B||
//                                                                    + |beta| ||C0||
//             + u * kWalk * sqrt(K) * |beta| ||C0||
// The norm is the largest magnitude that a matrix can hold: data::norm_of(). All elements have this
// bound, even if S = 0. Integers are exact while kLevelPeak * N < 2^24. There only nonzero products
// count: fewer than K if A or B is sparse.
inline constexpr double kLevelGrowth = 3.0;
inline constexpr double kLevelSlack = 25.0;
inline constexpr double kLevelPeak = 6.0;

inline constexpr double kUnit = 0x1p-24;  // u of fp32: half the distance from 1 to the next float

struct format {
  double unit;      // largest relative error of one rounding to the type
  double tiny;      // largest absolute error: half the smallest subnormal
  double overflow;  // the least magnitude that rounds to infinity
};
// `type` must be a floating-point type.
constexpr format format_of(kzoo_type type) {
  if (type == KZOO_F16) return {0x1p-11, 0x1p-25, 65520.0};
  if (type == KZOO_BF16) return {0x1p-8, 0x1p-134, 0x1.ffp127};
  if (type == KZOO_F64) return {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
  return {kUnit, 0x1p-150, 0x1.ffffffp127};
}

// The right-hand side of the bound for one problem and one declared precision.
class tolerance {
 public:
  tolerance(const problem& p, kzoo_precision declared);

  constexpr double allowed(const sizes& size) const {
    const double after = after_(size) + output_(size);
    if (size.sum == 0.0 && per_element_ == 0.0) return after;
    if (exact_sums_ && size.sum < exact_below_ * size.unit) return after;
    return size.gain * rounded_(size, 1.0) + after;
  }
  // Bounds the norm of a row's allowed errors, each times a weight, from the norms of the elements'
  // magnitudes and of the weights. `exact`: holds_exactly() for all of them.
  constexpr double allowed_of_row(const sizes& norms, double weights, bool exact) const {
    if (norms.sum == 0.0 && per_element_ == 0.0) return 0.0;
    return exact ? output_(norms) : rounded_(norms, weights) + output_(norms);
  }
  // Whether sums of magnitudes up to this are exact.
  constexpr bool holds_exactly(double magnitudes) const {
    return exact_sums_ && magnitudes < exact_below_;
  }
  // u in the bound, of the declared accumulators.
  double unit() const { return unit_; }
  // If S is small enough (below 2^24 in fp32), only the rounding of C is allowed.
  bool exact_sums() const { return exact_sums_; }
  // The error without the epilogue's own part and without rounding to a narrower C.
  double beyond_output(double error, const sizes& size) const {
    const double rest = error - after_(size) - output_(size) - (output_unit_ > 0 ? tiny_ : 0.0);
    return rest > 0.0 ? rest : 0.0;
  }

 private:
  void bound_norm_wise(const problem& p);
  constexpr double rounded_(const sizes& size, double elements) const {
    return per_magnitude_ * size.sum + per_start_ * (size.sum - size.products) +
           per_product_ * size.products + (per_element_ + tiny_) * elements;
  }
  constexpr double after_(const sizes& size) const { return unit_ * size.roundings + size.extra; }
  constexpr double output_(const sizes& size) const {
    const double rounded_before = rounds_twice_ ? size.value + (size.sum - size.products) : 0.0;
    return output_unit_ * (size.value + rounded_before) + finished_tiny_;
  }

  double unit_ = kUnit, exact_below_ = 0;
  double per_magnitude_ = 0, per_start_ = 0, per_product_ = 0;
  double per_element_ = 0;  // for a bound that is equal for all elements
  double output_unit_ = 0;  // 0 if C is as wide as the accumulators
  double tiny_ = 0;
  double finished_tiny_ = 0;  // for C after an epilogue, exact or not
  bool exact_sums_ = false;
  bool rounds_twice_ = false;  // A B, and its sum with beta C0, round to C's type
};

// The average rounding errors of a right kernel. The bound above allows for the worst element
// and for truncated sums. Three products of bf16 parts (16 bits of 24) meet it from K = 300 on. But
// their average error is 4.8 times the usual at K = 1024, and 1.6 times at 16384.
//
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
  double unit_ = 0;  // u of the declared accumulators; 0: unknown
  double per_sum_ = 0, per_start_ = 0, tiny_ = 0;
};

}  // namespace kzoo::reference
