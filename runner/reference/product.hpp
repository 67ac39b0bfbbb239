#pragma once
// Selected rows of AB and of |A||B|, summed in fp64, on all cores.

#include "core/matrix_data.hpp"

#include <cstdint>
#include <span>

namespace kzoo::reference {

// For the r-th of `rows` of A = op(a) and each column j of B = op(b): adds the sum over k of a b to
// sums[r * n + j], and that of |a||b| to magnitudes[r * n + j]. Memory: a few MiB per thread.
void add_product(const data::matrix& a, std::span<const std::int64_t> rows, const data::matrix& b,
                 std::span<double> sums, std::span<float> magnitudes);

}  // namespace kzoo::reference
