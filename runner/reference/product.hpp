#pragma once
// Selected rows of AB and of |A||B|, summed in fp64, on all cores.

#include "core/operands.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kzoo::reference {

// Neighbouring selected rows of one matrix C with the same B.
struct row_range {
  std::int64_t product, b;
  std::int64_t begin, end;  // among the selected rows
};
// Divides the selected rows (ascending, numbered over the batch) into ranges of at most `most`.
std::vector<row_range> row_ranges(const operands& o, std::span<const std::int64_t> rows,
                                  std::int64_t most);

// For the r-th of `rows`, a row of C, and each column j: adds the sum over k of a b to sums[r * n +
// j], and of |a||b| to magnitudes[r * n + j]. Memory: a few MiB per thread.
void add_products(const operands& o, std::span<const std::int64_t> rows, std::span<double> sums,
                  std::span<float> magnitudes);

}  // namespace kzoo::reference
