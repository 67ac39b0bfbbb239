#pragma once
// Rows of op(x) as numbers: several times faster than element by element, since the type and the
// usual contents are constants in the loops.

#include "data/contents.hpp"
#include "data/matrix.hpp"

#include <kzoo/type_names.hpp>

#include <cstdint>
#include <span>

namespace kzoo::data {

// A and B as the GEMM uses them: numbers times block scales, if any. For both devices.

// For int4 elements, the matrix's rows, cols and ld count words of two elements.
struct scaled_matrix : matrix {
  bool is_b = false;        // K is along the rows of op(x)
  std::int64_t extent = 0;  // rows of A, or columns of B, with a common scale; 0: no scales
  std::int64_t depth = 1;   // elements of K with a common scale
  matrix scales{};          // stored as abi.h says
};

// op_rows() and op_cols() as in matrix.hpp, in elements.
constexpr std::int64_t op_rows(const scaled_matrix& x) {
  return x.transposed ? x.cols * elements_in_word(x.type) : x.rows;
}
constexpr std::int64_t op_cols(const scaled_matrix& x) {
  return x.transposed ? x.rows : x.cols * elements_in_word(x.type);
}

// The number at (row, col) of op(x) of one matrix; word(index) is its word.
template <class Word>
constexpr double number_at(const scaled_matrix& x, std::int64_t product, std::int64_t row,
                           std::int64_t col, const Word& word) {
  if (x.type != KZOO_I4) return decode(x.type, word(op_index(x, product, row, col)));
  const std::int64_t along = x.transposed ? row : col;  // a row of x as it is stored
  const std::int64_t index =
      x.transposed ? op_index(x, product, row / 2, col) : op_index(x, product, row, col / 2);
  return unpacked(word(index), along % 2);
}

// The scale of element (row, col) of op(x) of one matrix.
constexpr double scale_at(const scaled_matrix& x, std::int64_t product, std::int64_t row,
                          std::int64_t col) {
  if (x.extent == 0) return 1.0;
  const std::int64_t i = (x.is_b ? col : row) / x.extent, k = (x.is_b ? row : col) / x.depth;
  const coordinates at = x.extent == 1 ? coordinates{k, i} : coordinates{i, k};
  const std::int64_t all = x.scales.count == 1 ? at.row : product * x.scales.rows + at.row;
  return decode(x.scales.type, element_in(x.scales, all, index_of(x.scales, all, at.col)));
}

// The element at (row, col) of op(x) of one matrix, which must be inside, times its scale.
constexpr double element_at(const scaled_matrix& x, std::int64_t product, std::int64_t row,
                            std::int64_t col) {
  const std::int64_t stored = product * x.rows + (x.transposed ? col : row);
  const double number = number_at(x, product, row, col, [&x, stored](std::int64_t index) {
    return element_in(x, stored, index);
  });
  return scale_at(x, product, row, col) * number;
}

// The largest magnitude of a scaled element.
constexpr double norm_of(const scaled_matrix& x) {
  const double elements = norm_of(static_cast<const matrix&>(x));
  return x.extent == 0 ? elements : elements * norm_of(x.scales);
}

// Sets `out` to elements of a row of op(x) of one matrix, times their scales. The first is at
// `from`; all must be inside.
void read_row(const scaled_matrix& x, std::int64_t product, coordinates from,
              std::span<double> out);

}  // namespace kzoo::data
