#pragma once
// A problem's matrices as stored, in the terms of data/matrix.hpp.

#include "core/problem.hpp"
#include "data/matrix.hpp"
#include "data/rows.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kzoo {

struct operands {
  data::scaled_matrix a, b;
  data::matrix c;        // before a kernel runs: poison, or the C that beta scales
  data::matrix offsets;  // where groups begin; one column without groups
};
// The index of the B for a row of C; `row` counts over the batch.
constexpr std::int64_t b_of_row(const operands& o, std::int64_t row) {
  if (o.b.count == 1) return 0;
  return data::group_count(o.offsets) > 0 ? data::group_of(o.offsets, row) : row / o.c.rows;
}

// With beta = 0 all of C is poison: it shows unwritten elements, and NaN shows reads.
operands operands_of(const problem& p);

// The power of two by which fill::scaled and fill::uneven enlarge products, with block scales.
int exponent_of_products(const problem& p);

// Operands of the GEMM: scales of A and of B, and where groups begin.
inline constexpr std::array<std::string_view, 3> kOperandsOfProduct{"scale_a", "scale_b",
                                                                    "offsets"};

struct named_operand {
  std::string_view name;  // "bias": a literal
  data::matrix stored;    // a vector of N is one row, of M one column
};
// Operands besides A, B and C: scales and offsets, then the epilogue's, in its order.
std::vector<named_operand> named_operands(const problem& p);
std::vector<named_operand> epilogue_operands(const problem& p);
// Everything that a kernel reads except C: A, B and named_operands().
std::vector<named_operand> inputs_of(const problem& p);

// The problem in the form in which plugins receive it.
kzoo_problem to_abi(const problem& p);

// The most nonzero products of an element of C: 1 for lone products; fewer than K for sparse fills,
// so that integers are exact at any K; else K.
std::int64_t most_terms(const problem& p);

}  // namespace kzoo
