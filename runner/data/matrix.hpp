#pragma once
// A matrix buffer: elements between redzones and padding, and their contents.
//
//   index 0          kRedzone                          kRedzone + rows * ld   word_count
//   | redzone of NaN | rows x ld elements, padding NaN | redzone of NaN       |
//
// Rows, columns and ld are those of the matrix as stored, row by row. If a problem's layout says t,
// the GEMM uses its transpose: op(x) in BLAS's words.
//
// A batch is in one buffer, `stride` words from matrix to matrix. Words between two matrices are
// NaN too, and count as padding of the row before. Rows are numbered over the batch: row r is row r
// % rows of matrix r / rows.

#include "os/enums.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <string_view>

namespace kzoo::data {

// Elements of the redzones before and after each matrix. No kernel may write to them.
inline constexpr std::int64_t kRedzone = 1024;

// The contents of one matrix. A problem's fill (core/problem.hpp) determines the contents of A, B
// and C.
enum class content : std::uint32_t {
  uniform,       // fractions in [-1, 1), zero-mean
  integers,      // integers in [-8, 8]
  poison,        // signalling NaNs; random words for integer types
  odd,           // odd integers of exactly `parameter` bits, of either sign
  signs,         // -1, 0 and 1
  sparse_signs,  // signs, but nonzero in only about one of parameter + 1, so that sums stay small
  sign_in_col,   // 1 or -1 in one row of each column of op(x), else 0
  sign_in_row,   // 1 or -1 in one column of each row of op(x), else 0
  whole_range,   // all bits of an i32; of an i8 all but -128, which has no opposite
  positive,      // integers from 1 to 128, or what the type holds exactly: see positive_integer()
  // positive in the left half of op(x)'s columns, negated in the right half
  positive_then_negative,
  bits,  // 0 and 1
  zeros,
  ones,
  one_or_two,
  scales,    // fractions in [1/2, 2)
  offsets,   // where groups of rows begin
  normal,    // sums of four numbers uniform in [-1/2, 1/2)
  specials,  // uniform, but infinity or NaN in one of 256 elements, and 0 in one of 16
  scaled,    // uniform, times 2^parameter, which may be negative
  // With matrix::parameter:
  sparse,    // uniform, but 0 in parameter of 2^32 elements
  powers,    // 2^-parameter to 1, of either sign
  few_bits,  // uniform, cut to `parameter` fraction bits
  // f32 and f64 only, of op(x):
  large_first_col,  // uniform, but column 0 is larger by 2^30
  large_first_row,  // uniform, but row 0 is
  zero_first_col,   // uniform, but column 0 is 0
  zero_first_row    // uniform, but row 0 is 0
};

struct matrix {
  kzoo_type type;
  content inside;  // fills the rows x cols elements; all other words are always poison
  std::int64_t rows, cols, ld;
  std::uint64_t key;            // different for each matrix and seed
  bool transposed = false;      // op(x) is the transpose
  std::uint64_t parameter = 0;  // `inside` needs it
  // The matrices of a batch; a single matrix has stride 0.
  std::int64_t count = 1, stride = 0;
  // A row that is temporarily negated; -1: none. It gets its real elements last, on the plugin's
  // stream just before the kernel: a kernel that does not wait for the stream reads the negated
  // row. Between runs without pauses this row changes.
  std::int64_t late_row = -1;
  // Multiplies rows or columns of op(x), or both, by powers of two from 2^-spread to 1, drawn with
  // these keys; key 0: none. Only for integers in floating-point types.
  std::uint64_t rows_key = 0, cols_key = 0, spread = 0;

  bool operator==(const matrix&) const = default;
};

constexpr std::int64_t all_rows(const matrix& x) { return x.count * x.rows; }
// The words from the first to the last row.
constexpr std::int64_t span_of(const matrix& x) { return (x.count - 1) * x.stride + x.rows * x.ld; }
constexpr std::int64_t word_count(const matrix& x) { return span_of(x) + 2 * kRedzone; }

struct coordinates {
  std::int64_t row, col;  // col >= cols: padding
};

// Row and column of word i of a matrix; a GPU divides 32-bit numbers several times faster.
constexpr coordinates divided(std::int64_t i, std::int64_t ld, bool is_small) {
  if (!is_small) return {i / ld, i % ld};
  const auto i32 = static_cast<std::uint32_t>(i), ld32 = static_cast<std::uint32_t>(ld);
  return {i32 / ld32, i32 % ld32};
}
// Row and column of `index`, which must be between the redzones.
constexpr coordinates coordinates_of(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  const bool is_small = span_of(x) <= INT32_MAX;
  if (x.count == 1) return divided(i, x.ld, is_small);
  const auto [product, rest] = divided(i, x.stride, is_small);
  const std::int64_t last = (x.rows - 1) * x.ld;  // words past the last row count as part of it
  const coordinates at =
      rest < last ? divided(rest, x.ld, is_small) : coordinates{x.rows - 1, rest - last};
  return {product * x.rows + at.row, at.col};
}

constexpr bool is_inside(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  return i >= 0 && i < span_of(x) && coordinates_of(x, index).col < x.cols;
}

constexpr std::int64_t index_of(const matrix& x, std::int64_t row, std::int64_t col) {
  if (x.count == 1) return kRedzone + row * x.ld + col;
  return kRedzone + row / x.rows * x.stride + row % x.rows * x.ld + col;
}
// Index past the row and its padding.
constexpr std::int64_t row_end(const matrix& x, std::int64_t row) {
  return row + 1 < all_rows(x) ? index_of(x, row + 1, 0) : kRedzone + span_of(x);
}

// Sizes and indices of op(x) of one matrix.
constexpr std::int64_t op_rows(const matrix& x) { return x.transposed ? x.cols : x.rows; }
constexpr std::int64_t op_cols(const matrix& x) { return x.transposed ? x.rows : x.cols; }
constexpr std::int64_t op_index(const matrix& x, std::int64_t product, std::int64_t row,
                                std::int64_t col) {
  return kRedzone + product * x.stride + (x.transposed ? col * x.ld + row : row * x.ld + col);
}
constexpr coordinates op_coordinates_of(const matrix& x, std::int64_t index) {
  const coordinates at = coordinates_of(x, index);
  const std::int64_t row = x.count == 1 ? at.row : at.row % x.rows;
  return x.transposed ? coordinates{at.col, row} : coordinates{row, at.col};
}
// 64 well-mixed bits from a counter: the finaliser of splitmix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t hash(std::uint64_t key, std::int64_t index) {
  std::uint64_t z = key + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(index) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The exponent of element (row, col) of op(x)'s factor; never above 0.
constexpr std::int64_t exponent_at(const matrix& x, std::int64_t row, std::int64_t col) {
  const auto drawn = [&x](std::uint64_t key, std::int64_t i) {
    return key == 0 ? 0 : -static_cast<std::int64_t>(hash(key, i) % (x.spread + 1));
  };
  return x.spread == 0 ? 0 : drawn(x.rows_key, row) + drawn(x.cols_key, col);
}

// First rows of groups: elements of a one-row i32 matrix with content::offsets, as a function
// of its key, so that they differ between runs. constexpr, for both devices.

// Sizes of the groups. even: equal. skewed: growing linearly; the last of n has about 2 / n of all
// rows. half_empty: equal, but every second group is empty. single: one group has all rows. The
// first group changes.
enum class group_rows : std::uint32_t { even, skewed, half_empty, single };
constexpr std::string_view names_of(group_rows) { return "even, skewed, half_empty, single"; }
inline constexpr std::array kGroupRows = kAllOf<group_rows>;

// matrix::parameter for offsets: `rows` in all, and how they are split.
constexpr std::uint64_t offsets_parameter(std::int64_t rows, group_rows sizes) {
  return static_cast<std::uint64_t>(rows) * kGroupRows.size() + static_cast<std::uint64_t>(sizes);
}
constexpr std::int64_t group_count(const matrix& offsets) { return offsets.cols - 1; }

// The rows of the first `count` groups, before the first is chosen.
constexpr std::int64_t rows_of_first(const matrix& offsets, std::int64_t count) {
  const std::int64_t groups = group_count(offsets);
  const auto rows = static_cast<std::int64_t>(offsets.parameter / kGroupRows.size());
  switch (static_cast<group_rows>(offsets.parameter % kGroupRows.size())) {
    case group_rows::skewed: return rows * (count * count) / (groups * groups);
    case group_rows::half_empty: return rows * ((count + 1) / 2) / ((groups + 1) / 2);
    case group_rows::single: return count == 0 ? 0 : rows;
    default: return rows * count / groups;
  }
}

// The first row of `group`, from 0 to group_count(), where all rows end.
constexpr std::int64_t first_row_of(const matrix& offsets, std::int64_t group) {
  const std::int64_t groups = group_count(offsets);
  const auto first = static_cast<std::int64_t>(offsets.key % static_cast<std::uint64_t>(groups));
  const std::int64_t end = first + group;
  const std::int64_t before = rows_of_first(offsets, first);
  if (end <= groups) return rows_of_first(offsets, end) - before;
  return rows_of_first(offsets, groups) - before + rows_of_first(offsets, end - groups);
}

// The number of groups with rows, whichever group is the first.
constexpr std::int64_t groups_with_rows(const matrix& offsets) {
  std::int64_t count = 0;
  for (std::int64_t group = 0; group < group_count(offsets); ++group)
    count += rows_of_first(offsets, group + 1) > rows_of_first(offsets, group) ? 1 : 0;
  return count;
}

// Whether all groups have the same rows in both matrices, with as many groups.
constexpr bool have_same_rows(const matrix& offsets, const matrix& others) {
  for (std::int64_t group = 1; group < group_count(offsets); ++group)
    if (first_row_of(offsets, group) != first_row_of(others, group)) return false;
  return true;
}

constexpr std::int64_t group_of(const matrix& offsets, std::int64_t row) {
  std::int64_t low = 0, high = group_count(offsets);  // first_row_of(low) <= row < of(high)
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (first_row_of(offsets, middle) <= row ? low : high) = middle;
  }
  return low;
}

}  // namespace kzoo::data
