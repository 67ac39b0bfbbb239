#pragma once
// The matrices of a problem as they are stored, in the terms of data/matrix.hpp.

#include "core/problem.hpp"
#include "data/matrix.hpp"
#include "data/scaled_matrix.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kzoo {

struct operands {
  data::scaled_matrix a, b;
  data::matrix c;        // before a kernel runs: poison, or the C that beta scales
  data::matrix offsets;  // of groups of rows; without any it has one column
};
// The number of the B that a row of C has: of all rows of all products.
constexpr std::int64_t b_of_row(const operands& o, std::int64_t row) {
  if (o.b.count == 1) return 0;
  return data::group_count(o.offsets) > 0 ? data::group_of(o.offsets, row) : row / o.c.rows;
}

// With beta = 0 all of C is poison: an element that still holds it was not written, and reading one
// turns the result into NaN.
operands operands_of(const problem& p);

// The power of two by which fill::scaled and fill::uneven make products larger, with the scales of
// blocks, which are multiplied the other way.
int exponent_of_products(const problem& p);

// The names of those that the product has: scales of A and of B, and where groups begin.
inline constexpr std::array<std::string_view, 3> kOperandsOfProduct{"scale_a", "scale_b",
                                                                    "offsets"};

struct named_operand {
  std::string_view name;  // "bias": a literal
  data::matrix stored;    // a vector of N is one row, one of M one column
};
// Those that a problem has beside A, B and C: scales and offsets, then those of the epilogue, in
// its order.
std::vector<named_operand> named_operands(const problem& p);
std::vector<named_operand> epilogue_operands(const problem& p);
// All that a kernel reads, but for the C that beta scales: A, B and these.
std::vector<named_operand> inputs_of(const problem& p);

// The problem in the form in which plugins receive it.
kzoo_problem to_abi(const problem& p);

// How many products of an element of C can be other than 0: K, or fewer where A or B is sparse at
// any K, so that its integers are exact at any; one where they are lone.
std::int64_t most_terms(const problem& p);

}  // namespace kzoo
