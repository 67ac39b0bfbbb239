#pragma once
// The three matrices of a problem as they are stored, in the terms of data/matrix.hpp.

#include "core/problem.hpp"
#include "data/matrix.hpp"

#include <cstdint>

namespace kzoo {

struct operands {
  data::matrix a, b, c;  // c before a kernel runs: poison, or the C that beta scales
};

// With beta = 0 all of C is poison: an element that still holds it was not written, and reading one
// turns the result into NaN.
operands operands_of(const problem& p);

// How many products of an element of C can be other than 0: K, or fewer where A or B is sparse at
// any K, so that its integers are exact at any.
std::int64_t most_terms(const problem& p);

}  // namespace kzoo
