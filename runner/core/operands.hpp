#pragma once
// The matrices of a problem as they are stored, in the terms of data/matrix.hpp.

#include "core/problem.hpp"
#include "data/matrix.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kzoo {

struct operands {
  data::matrix a, b, c;  // c before a kernel runs: poison, or the C that beta scales
};

// With beta = 0 all of C is poison: an element that still holds it was not written, and reading one
// turns the result into NaN.
operands operands_of(const problem& p);

struct named_operand {
  std::string_view name;  // "bias": a literal
  data::matrix stored;    // a vector of N is one row, one of M one column
};
// Those that a problem has beside A, B and C: of the epilogue, in its order.
std::vector<named_operand> named_operands(const problem& p);
// All that a kernel reads, but for the C that beta scales: A, B and these.
std::vector<named_operand> inputs_of(const problem& p);

// The problem in the form in which plugins receive it.
kzoo_problem to_abi(const problem& p);

// How many products of an element of C can be other than 0: K, or fewer where A or B is sparse at
// any K, so that its integers are exact at any.
std::int64_t most_terms(const problem& p);

}  // namespace kzoo
