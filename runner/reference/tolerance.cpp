#include "reference/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace kzoo::reference {
namespace {

// The precision of an input format: the stored bits of its significand, and the largest relative
// error of converting a value to it.
struct input_format {
  int stored_bits;
  double unit;
};
input_format declared_inputs(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_TF32:  // tensor cores truncate, with twice the error of rounding
      return {10, 0x1p-10};
    case KZOO_COMPUTE_FP16:
      return {10, 0x1p-11};
    case KZOO_COMPUTE_BF16:
      return {7, 0x1p-8};
    default:
      return {23, kUnit};
  }
}
int stored_bits(kzoo_type type) { return type == KZOO_F16 ? 10 : type == KZOO_BF16 ? 7 : 23; }

bool is_whole(double x) { return std::nearbyint(x) == x; }

}  // namespace

tolerance::tolerance(const problem& p, kzoo_precision declared) {
  if (is_integer(p.dtype)) {
    exact_sums_ = true;
    return;
  }
  const format out = format_of(p.dtype);
  tiny_ = p.beta == 0.0 ? out.tiny : 2 * out.tiny;  // alpha A B and beta C0 each round
  output_unit_ = out.unit > kUnit ? out.unit : 0.0;
  const double root_k = std::sqrt(static_cast<double>(p.k));
  per_magnitude_ = kUnit * (kGrowth * root_k + kSlack);
  per_start_ = kUnit * kWalk * root_k;
  // f16 elements lose no bits as TF32, nor bf16 elements as f16.
  const input_format inputs = declared_inputs(declared);
  const bool narrowed = inputs.stored_bits < stored_bits(p.dtype);
  if (narrowed) per_product_ = 2.0 * inputs.unit * std::min(1.0, kWalk / root_k);
  // Small integers are exact in every input format, and their sums below 2^24 are exact in fp32.
  // The integers of the probes have too many bits for narrower inputs.
  const bool fractions = p.data == fill::uniform || p.data == fill::unequal;
  const bool probe = p.data == fill::probe || p.data == fill::probe_b;
  const bool whole_inputs = !fractions && !(probe && narrowed);
  exact_sums_ = whole_inputs && is_whole(p.alpha) && is_whole(p.beta);
}

}  // namespace kzoo::reference
