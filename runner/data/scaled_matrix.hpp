#pragma once
// A and B as a product has them: their elements, each times the scale of its block where a problem
// has scales. constexpr, for both devices.

#include "data/contents.hpp"
#include "data/matrix.hpp"

#include <cstdint>

namespace kzoo::data {

struct scaled_matrix : matrix {
  bool is_b = false;        // it has K along the rows of op(x)
  std::int64_t extent = 0;  // rows of A, or columns of B, that have a scale in common; 0: no scales
  std::int64_t depth = 1;   // steps of K that do
  matrix scales{};          // stored as abi.h says
};

// What element (row, col) of op(x) is multiplied by.
constexpr double scale_at(const scaled_matrix& x, std::int64_t row, std::int64_t col) {
  if (x.extent == 0) return 1.0;
  const std::int64_t i = (x.is_b ? col : row) / x.extent, k = (x.is_b ? row : col) / x.depth;
  const coordinates at = x.extent == 1 ? coordinates{k, i} : coordinates{i, k};
  return decode(x.scales.type, element_in(x.scales, at.row, index_of(x.scales, at.row, at.col)));
}

// The largest magnitude that a scaled element can have.
constexpr double norm_of(const scaled_matrix& x) {
  const double elements = norm_of(static_cast<const matrix&>(x));
  return x.extent == 0 ? elements : elements * norm_of(x.scales);
}

}  // namespace kzoo::data
