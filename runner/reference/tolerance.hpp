#pragma once
// Evaluates the error bound of reference.hpp from the rounding errors of the types involved.

#include "core/problem.hpp"
#include "reference/reference.hpp"

#include <limits>

namespace kzoo::reference {

inline constexpr double kUnit = 0x1p-24;  // u of fp32: half the distance from 1 to the next float

struct format {
  double unit;      // largest relative error of one rounding to the type
  double tiny;      // and the largest absolute one: half the smallest subnormal
  double overflow;  // the least magnitude that rounds to infinity
};
// Of a floating type.
constexpr format format_of(kzoo_type type) {
  if (type == KZOO_F16) return {0x1p-11, 0x1p-25, 65520.0};
  if (type == KZOO_BF16) return {0x1p-8, 0x1p-134, 0x1.ffp127};
  if (type == KZOO_F64) return {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
  return {kUnit, 0x1p-150, 0x1.ffffffp127};
}

// reference.hpp's right-hand side for one problem and one declared precision.
class tolerance {
 public:
  tolerance(const problem& p, kzoo_precision declared);

  // Of one element, or of the sum of so many, whose magnitudes are added up.
  double allowed(const sizes& of, double elements = 1.0) const {
    if (of.sum == 0.0 && per_element_ == 0.0) return 0.0;
    if (exact_sums_ && of.sum < exact_below_) return output_(of);
    return per_magnitude_ * of.sum + per_start_ * (of.sum - of.products) +
           per_product_ * of.products + per_element_ * elements + output_(of) + tiny_;
  }
  // u in the bound: of fp32, unless other accumulators are declared.
  double unit() const { return unit_; }
  // Where S is small enough, below 2^24 in fp32, no error is allowed but the rounding of C itself.
  bool exact_sums() const { return exact_sums_; }
  // The part of an error that rounding to a narrower C does not explain.
  double beyond_output(double error, const sizes& of) const {
    const double rest = error - output_(of) - (output_unit_ > 0 ? tiny_ : 0.0);
    return rest > 0.0 ? rest : 0.0;
  }

 private:
  void bound_norm_wise(const problem& p);
  double output_(const sizes& of) const {
    const double rounded_before = rounds_twice_ ? of.value + (of.sum - of.products) : 0.0;
    return output_unit_ * (of.value + rounded_before);
  }

  double unit_ = kUnit, exact_below_ = 0;
  double per_magnitude_ = 0, per_start_ = 0, per_product_ = 0;
  double per_element_ = 0;  // of a bound that is the same for all elements
  double output_unit_ = 0;  // 0 where C is as wide as the accumulators
  double tiny_ = 0;
  bool exact_sums_ = false;
  bool rounds_twice_ = false;  // to the type of C: A B, and the sum with beta C0
};

}  // namespace kzoo::reference
