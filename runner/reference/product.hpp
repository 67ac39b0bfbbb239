#pragma once
// C = alpha AB + beta C0 as the reference computes it: in fp64, with twice its digits, or in
// integers that wrap at 32 bits.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "data/contents.hpp"

#include <cstdint>
#include <span>
#include <vector>

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

// The C that beta scales; 0 if beta is 0: poison is not read. `row` counts over the batch.
inline double initial_c(const operands& o, const scalars& s, std::int64_t row, std::int64_t col) {
  if (s.beta == 0.0) return 0.0;
  return data::decode(o.c.type, data::word(o.c, data::index_of(o.c, row, col)));
}

// Selected rows of AB and of |A||B|, summed in fp64, on all cores. For the r-th of `rows`, a row of
// C, and each column j: adds the sum over k of a b to sums[r * n + j], and of |a||b| to
// magnitudes[r * n + j]. Memory: a few MiB per thread.
void add_products(const operands& o, std::span<const std::int64_t> rows, std::span<double> sums,
                  std::span<float> magnitudes);

// Selected rows of alpha AB + beta C0 for fp64 matrices, with twice fp64's digits: unevaluated sums
// of two doubles (Dekker 1971; Knuth), rounded to fp64 at the end.
// For the r-th of `rows` and each column j: sets values[r * n + j], and magnitudes[r * n + j] to
// the sum over k of |a||b|.
void precise_result(const operands& o, const scalars& s, std::span<const std::int64_t> rows,
                    std::span<double> values, std::span<float> magnitudes);

// The GEMM microkernel: a few rows of A times a few columns of B, both packed by k step.
//
//                     B: depth steps of kTileCols
//                     | b00 b01 .. b0f |
//                     | b10 b11 .. b1f |  ...
//   A, by step:
//   | a00 a10 a20 a30 |     4 x 16 sums and 4 x 16 magnitudes, all in registers with AVX-512
//   | a01 a11 a21 a31 |  ...

inline constexpr int kTileRows = 4, kTileCols = 16;

struct alignas(32) a_step {
  double values[kTileRows];
};
struct alignas(64) b_step {
  double values[kTileCols];
};
struct alignas(64) tile_sums {
  double values[kTileRows][kTileCols];
  double magnitudes[kTileRows][kTileCols];
};

using tile_function = void (*)(const a_step*, const b_step*, std::int64_t depth, tile_sums&);

// The functions that this CPU can run, fastest first; never empty.
std::vector<tile_function> usable_tiles();

}  // namespace kzoo::reference
