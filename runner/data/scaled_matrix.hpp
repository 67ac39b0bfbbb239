#pragma once
// A and B as a product has them: the numbers that their words stand for, each times the scale of
// its block where a problem has scales. constexpr, for both devices.

#include "data/contents.hpp"
#include "data/matrix.hpp"

#include <kzoo/type_names.hpp>

#include <cstdint>

namespace kzoo::data {

// Of elements of 4 bits, rows, cols and ld of the matrix count words of two of them.
struct scaled_matrix : matrix {
  bool is_b = false;        // it has K along the rows of op(x)
  std::int64_t extent = 0;  // rows of A, or columns of B, that have a scale in common; 0: no scales
  std::int64_t depth = 1;   // steps of K that do
  matrix scales{};          // stored as abi.h says
};

// The same for op(x) as in matrix.hpp, in elements.
constexpr std::int64_t op_rows(const scaled_matrix& x) {
  return x.transposed ? x.cols * elements_in_word(x.type) : x.rows;
}
constexpr std::int64_t op_cols(const scaled_matrix& x) {
  return x.transposed ? x.rows : x.cols * elements_in_word(x.type);
}

// The number at (row, col) of op(x) of a product, of which word(index) is the word.
template <class Word>
constexpr double number_at(const scaled_matrix& x, std::int64_t product, std::int64_t row,
                           std::int64_t col, const Word& word) {
  if (x.type != KZOO_I4) return decode(x.type, word(op_index(x, product, row, col)));
  const std::int64_t along = x.transposed ? row : col;  // a row of x as it is stored
  const std::int64_t index =
      x.transposed ? op_index(x, product, row / 2, col) : op_index(x, product, row, col / 2);
  return unpacked(word(index), along % 2);
}

// What element (row, col) of op(x) of a product is multiplied by.
constexpr double scale_at(const scaled_matrix& x, std::int64_t product, std::int64_t row,
                          std::int64_t col) {
  if (x.extent == 0) return 1.0;
  const std::int64_t i = (x.is_b ? col : row) / x.extent, k = (x.is_b ? row : col) / x.depth;
  const coordinates at = x.extent == 1 ? coordinates{k, i} : coordinates{i, k};
  const std::int64_t all = x.scales.count == 1 ? at.row : product * x.scales.rows + at.row;
  return decode(x.scales.type, element_in(x.scales, all, index_of(x.scales, all, at.col)));
}

// The largest magnitude that a scaled element can have.
constexpr double norm_of(const scaled_matrix& x) {
  const double elements = norm_of(static_cast<const matrix&>(x));
  return x.extent == 0 ? elements : elements * norm_of(x.scales);
}

}  // namespace kzoo::data
