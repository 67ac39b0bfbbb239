#include "reference/usual_errors.hpp"

#include "reference/tolerance.hpp"

#include <cmath>

namespace kzoo::reference {
namespace {

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
    case fill::stale:
      return true;
    default:
      return false;
  }
}

}  // namespace

usual_errors::usual_errors(const problem& p, kzoo_precision declared) {
  const bool is_rounded = (declared == KZOO_COMPUTE_FP32 && p.dtype.c == KZOO_F32) ||
                          (declared == KZOO_COMPUTE_FP64 && p.dtype.c == KZOO_F64);
  if (!is_rounded || !is_even(p.data.what)) return;
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
