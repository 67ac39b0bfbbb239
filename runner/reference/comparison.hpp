#pragma once
// Compares two results of one problem.

#include "reference/expected_result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kzoo::reference {

// The rows that the expected result covers, without padding and redzones, in the element type of C:
// rows * n * element size bytes.
struct result {
  std::vector<std::byte> elements;
};
result keep(const expected_result& t, std::span<const std::byte> words);

struct comparison {
  double max_abs_diff = 0;      // NaN or infinite if one value is and the other differs
  double worst_of_allowed = 0;  // max of |x - y| / (allowed by x + allowed by y)
  std::int64_t worst_row = 0, worst_col = 0;
  bool agree = false;  // worst_of_allowed <= 1, and no NaN on either side
};
comparison compare(const expected_result& t, const result& x, kzoo_precision x_declared,
                   const result& y, kzoo_precision y_declared);

}  // namespace kzoo::reference
