#pragma once
// C = alpha AB + beta C0 for one element, as the reference computes it: in fp64, or in integers
// that wrap at 32 bits. For fp64 results see double_double.hpp.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "data/contents.hpp"

namespace kzoo::reference {

// alpha and beta in a kernel: float, unless C is fp64 or integer. alpha includes both scales.
struct scalars {
  double alpha, beta;
};
inline scalars held_scalars(const problem& p) {
  if (is_integer(p.dtype) || p.dtype.c == KZOO_F64) return {p.alpha, p.beta};
  // volatile, because g++ 12 at -O2 drops conversions to float and back.
  const volatile float alpha = static_cast<float>(p.alpha);
  const volatile float beta = static_cast<float>(p.beta);
  if (!is_scaled(p.dtype)) return {alpha, beta};
  const volatile float scale_a = static_cast<float>(p.scale_a);
  const volatile float scale_b = static_cast<float>(p.scale_b);
  return {double(alpha) * scale_a * scale_b, beta};
}

// `sum` is an element of AB; an integer is below 2^53 and so exact.
inline double combine(kzoo_type type, scalars s, double sum, double c0) {
  if (type != KZOO_I32) return s.alpha * sum + s.beta * c0;
  const auto word = [](double x) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
  };
  return static_cast<std::int32_t>(word(s.alpha) * word(sum) + word(s.beta) * word(c0));
}

// op(x) of one matrix at (row, col) before a kernel runs, times its scale.
inline double element(const data::scaled_matrix& x, std::int64_t product, std::int64_t row,
                      std::int64_t col) {
  const double number = data::number_at(x, product, row, col,
                                        [&x](std::int64_t index) { return data::word(x, index); });
  return data::scale_at(x, product, row, col) * number;
}

// The C that beta scales; 0 if beta is 0: poison is not read. `row` counts over the batch.
inline double initial_c(const operands& o, const scalars& s, std::int64_t row, std::int64_t col) {
  if (s.beta == 0.0) return 0.0;
  return data::decode(o.c.type, data::word(o.c, data::index_of(o.c, row, col)));
}

}  // namespace kzoo::reference
