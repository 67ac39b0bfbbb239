#pragma once
// The three matrices of a problem, as matrix_data.hpp describes them.

#include "core/matrix_data.hpp"
#include "core/problem.hpp"

namespace kzoo {

struct operands {
  data::matrix a, b, c;  // c as it is before a kernel runs: poison, or the C of beta C
};

// With beta = 0 all of C is poison, so a word that survives was not written, and one that is read
// turns the result into NaN.
operands operands_of(const problem& p);

}  // namespace kzoo
