#pragma once
// Selected rows of alpha AB + beta C0 for fp64 matrices, with twice fp64's digits: unevaluated sums
// of two doubles (Dekker 1971; Knuth), rounded to fp64 at the end.

#include "core/operands.hpp"
#include "reference/formula.hpp"

#include <cstdint>
#include <span>

namespace kzoo::reference {

// For the r-th of `rows` and each column j: sets values[r * n + j], and magnitudes[r * n + j] to
// the sum over k of |a||b|.
void precise_result(const operands& o, const scalars& s, std::span<const std::int64_t> rows,
                    std::span<double> values, std::span<float> magnitudes);

}  // namespace kzoo::reference
