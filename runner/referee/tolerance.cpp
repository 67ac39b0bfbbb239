#include "referee/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace kzoo::referee {
namespace {

// Largest relative error of an input that is brought to the declared precision. TF32: tensor cores
// drop the low bits of what nobody rounded, which costs twice as much as rounding.
double input_unit(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_TF32:
      return 0x1p-10;
    case KZOO_COMPUTE_FP16:
      return 0x1p-11;
    case KZOO_COMPUTE_BF16:
      return 0x1p-8;
    default:
      return kUnit;
  }
}

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
  if (input_unit(declared) > out.unit)
    per_product_ = 2.0 * input_unit(declared) * std::min(1.0, kWalk / root_k);
  // Small whole numbers are exact in every input format, and so are their sums below 2^24.
  exact_sums_ = p.data == fill::integers && is_whole(p.alpha) && is_whole(p.beta);
}

}  // namespace kzoo::referee
