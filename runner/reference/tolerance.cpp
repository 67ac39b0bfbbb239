#include "reference/tolerance.hpp"

#include "core/operands.hpp"
#include "data/contents.hpp"
#include "reference/product.hpp"

#include <algorithm>
#include <cmath>

namespace kzoo::reference {
namespace {

// The largest relative error of converting an input to the declared precision.
double input_unit(kzoo_precision declared) {
  // Tensor cores truncate to TF32, with twice the error of rounding.
  return std::ldexp(
      1.0, declared == KZOO_COMPUTE_TF32 ? -input_bits(declared) : -input_bits(declared) - 1);
}

// exact_below: integer sums below this magnitude are exact.
struct accumulators {
  double unit, exact_below;
};
accumulators declared_sums(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_FP64: return {0x1p-53, 0x1p53};
    case KZOO_COMPUTE_FP16_SUMS: return {0x1p-11, 0x1p11};
    case KZOO_COMPUTE_FP8: return {kUnit, 0x1p13};
    default: return {kUnit, 0x1p24};
  }
}

bool is_whole(double x) { return std::nearbyint(x) == x; }

// Fills whose products, except zeros, are zero-mean and similar in magnitude.
bool is_even(fill f) {
  switch (f) {
    case fill::uniform:
    case fill::normal:
    case fill::sparse:
    case fill::scaled:
    case fill::uneven:
    case fill::unequal:
    case fill::unequal_b:
    case fill::specials:
    case fill::stale: return true;
    default: return false;
  }
}

}  // namespace

tolerance::tolerance(const problem& p, kzoo_precision declared) {
  if (is_integer(p.dtype)) {
    exact_sums_ = true;
    return;
  }
  const format out = format_of(p.dtype.c);
  tiny_ = p.beta == 0.0 ? out.tiny : 2 * out.tiny;  // alpha A B and beta C0 each round
  const accumulators sums = declared_sums(declared);
  unit_ = sums.unit;
  exact_below_ = sums.exact_below;
  output_unit_ = out.unit > unit_ ? out.unit : 0.0;
  finished_tiny_ = p.epilogue.empty() ? 0.0 : out.tiny;
  rounds_twice_ = p.beta != 0.0 && p.epilogue.empty();
  const auto k = static_cast<double>(p.k);
  const bool has_lone = has_lone_products(p.data.kind);
  const double root_k = has_lone ? 1.0 : std::sqrt(k);  // adding zeros rounds nothing
  per_magnitude_ = unit_ * (kGrowth * root_k + kSlack);
  per_start_ = unit_ * kWalk * root_k;
  // f16 elements lose no bits in TF32, nor bf16 elements in f16. An int4 weight, multiplied by its
  // fp32 scale before the sum, is rounded to the declared precision.
  const int bits = input_bits(declared);
  const bool narrowed = bits < std::max(stored_bits(p.dtype.a), stored_bits(p.dtype.b));
  const bool has_scaled_weights = p.dtype.b == KZOO_I4 && !p.scale_block_b.empty();
  if (narrowed || (has_scaled_weights && bits < stored_bits(KZOO_F32)))
    per_product_ = 2.0 * input_unit(declared) * std::min(1.0, kWalk / root_k);
  if (declared == KZOO_COMPUTE_FP8)
    per_product_ += kFp8Unit * std::min(kFp8Most, kFp8Walk / root_k);
  // Products and sums below the smallest normal number lose up to half the smallest subnormal each.
  if (declared == KZOO_COMPUTE_FP16_SUMS) tiny_ += std::abs(p.alpha) * k * format_of(KZOO_F16).tiny;
  // Small integers and their sums (in fp32 below 2^24) are exact in every input format. Probe
  // integers have too many bits for narrower inputs. Lone products have too many for split parts,
  // which may hold 22 bits of 24. Their scales are 1.
  const bool is_probe = p.data.kind == fill::probe || p.data.kind == fill::probe_b || has_lone;
  const bool is_split = has_lone && declared == KZOO_COMPUTE_FP32_SPLIT;
  const bool whole_inputs = has_integers(p.data.kind) && !(is_probe && narrowed) && !is_split;
  exact_sums_ = whole_inputs && is_whole(held_scalars(p).alpha) && is_whole(p.beta);
  if (declared == KZOO_COMPUTE_FP32_NORMWISE) bound_norm_wise(p);
}

// Higham (2002), section 23.2.2, one level of Strassen's algorithm: 3 K^2 + 25 K times u ||A||
// ||B||, where plain sums have K^2. Roundings walk at random, so K^2 becomes K sqrt(K).
// Intermediate values are at most 6 K ||A|| ||B||.
void tolerance::bound_norm_wise(const problem& p) {
  const operands o = operands_of(p);
  const auto k = static_cast<double>(p.k);
  const scalars s = held_scalars(p);
  const double product = std::abs(s.alpha) * data::norm_of(o.a) * data::norm_of(o.b);
  const double start = s.beta == 0.0 ? 0.0 : std::abs(s.beta) * data::norm_of(o.c);
  per_element_ = unit_ * ((kLevelGrowth * std::sqrt(k) + kLevelSlack) * (k * product + start) +
                          kWalk * std::sqrt(k) * start);
  per_magnitude_ = per_start_ = 0.0;
  const auto terms = static_cast<double>(most_terms(p));
  exact_sums_ = exact_sums_ && kLevelPeak * (terms * product + start) < exact_below_;
}

usual_errors::usual_errors(const problem& p, kzoo_precision declared) {
  const bool is_rounded = (declared == KZOO_COMPUTE_FP32 && p.dtype.c == KZOO_F32) ||
                          (declared == KZOO_COMPUTE_FP64 && p.dtype.c == KZOO_F64);
  if (!is_rounded || !is_even(p.data.kind)) return;
  const format out = format_of(p.dtype.c);
  const double root_k = std::sqrt(static_cast<double>(p.k));
  unit_ = out.unit;
  per_sum_ = kUsualWalk + kUsualEnds / root_k;
  per_start_ = kUsualStart * root_k;
  tiny_ = out.tiny;
}

double usual_errors::most(std::int64_t elements) {
  constexpr double kDeviations = 20, kOfFew = 100;
  const auto n = static_cast<double>(elements);
  return std::sqrt(1 + kDeviations / std::sqrt(n) + kOfFew / n);
}

}  // namespace kzoo::reference
