#include "core/precision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace kzoo {
namespace {

int type_exponent_bits(kzoo_type type) {
  switch (type) {
    case KZOO_F64:
      return 11;
    case KZOO_F16:
    case KZOO_E5M2:
      return 5;
    case KZOO_E4M3:
      return 4;
    default:
      return 8;
  }
}

// Exponent bits of inputs.
int exponent_bits(kzoo_precision declared, const element_types& types) {
  const int held = std::max(type_exponent_bits(types.a), type_exponent_bits(types.b));
  switch (declared) {
    case KZOO_COMPUTE_FP64:
      return held;
    case KZOO_COMPUTE_FP16:
    case KZOO_COMPUTE_FP16_SUMS:
    case KZOO_COMPUTE_FP8:
      return std::min(held, 5);
    default:
      return std::min(held, 8);
  }
}

int sum_bits(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_FP64:
      return 52;
    case KZOO_COMPUTE_FP16_SUMS:
      return 10;
    case KZOO_COMPUTE_FP8:
      return 13;
    default:
      return 23;
  }
}

// The first difference decides; larger is more precise.
auto order_of(kzoo_precision declared, const element_types& types) {
  const int held = std::max(stored_bits(types.a), stored_bits(types.b));
  return std::tuple(sum_bits(declared), std::min(held, input_bits(declared)),
                    exponent_bits(declared, types), declared != KZOO_COMPUTE_FP32_NORMWISE);
}

}  // namespace

int stored_bits(kzoo_type type) {
  switch (type) {
    case KZOO_F64:
      return 52;
    case KZOO_F16:
      return 10;
    case KZOO_BF16:
      return 7;
    case KZOO_E4M3:
      return 3;
    case KZOO_E5M2:
      return 2;
    case KZOO_I4:
      return 3;
    default:
      return 23;
  }
}

int input_bits(kzoo_precision declared) {
  switch (declared) {
    case KZOO_COMPUTE_TF32:
    case KZOO_COMPUTE_FP16:
    case KZOO_COMPUTE_FP16_SUMS:
      return 10;
    case KZOO_COMPUTE_BF16:
      return 7;
    case KZOO_COMPUTE_FP8:
      return 3;
    case KZOO_COMPUTE_FP64:
      return 52;
    default:
      return 23;
  }
}

bool is_less_precise(kzoo_precision a, kzoo_precision b, const element_types& types) {
  if (a == 0 || b == 0) return false;  // results of earlier versions do not tell
  return !is_integer(types) && order_of(a, types) < order_of(b, types);
}

bool takes(const problem& p, kzoo_precision declared) {
  return p.allow.contains(declared) ||
         !is_less_precise(declared, usual_precision(p.dtype.a), p.dtype);
}

std::string taken_names(const problem& p) {
  std::vector<std::string> names = p.allow.names();
  names.insert(names.begin(), std::string(precision_name(usual_precision(p.dtype.a))));
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace kzoo
