#pragma once
// What every word of every matrix buffer holds before a kernel runs, as a pure function of its
// index. The worker fills buffers on its device with it, the reference computes the expected result
// from it, and memory that a kernel must not write (inputs, row padding, the redzones around a
// matrix) is checked against it, so no copy of the data is ever kept or sent. The bits are the same
// on host and device: integer hashing, then exact or correctly rounded conversion. constexpr, so
// that nvcc compiles these functions for the device too.
//
//   index 0          kRedzone                          kRedzone + rows * ld   word_count
//   | redzone of NaN | rows x ld elements, padding NaN | redzone of NaN       |
//
// Rows, columns and ld are those of the matrix as it is stored, row by row. Where the layout of a
// problem says t, its transpose is what is multiplied: op(x) in BLAS's words.
//
// The matrices of a batch are in one buffer, `stride` words from one to the next. What is between
// the rows of one and those of the next is NaN too, and counts as padding of the row before it.
// Rows are numbered through all of them: row r is row r % rows of product r / rows.

#include <kzoo/abi.h>
#include <kzoo/numeric.hpp>
#include <kzoo/type_names.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace kzoo::data {

// Size of the redzones before and after each matrix, in elements. No kernel may write to them.
inline constexpr std::int64_t kRedzone = 1024;

// What the elements of a matrix are.
enum class content : std::uint32_t {
  uniform,     // fractions in [-1, 1), zero-mean
  integers,    // integers in [-8, 8]
  poison,      // signalling NaNs; random words for integer types
  odd,         // odd integers of 12 bits and either sign: exact in fp32, not in TF32
  wide_odd,    // odd integers of 26 bits and either sign: exact in fp64, not in fp32
  signs,       // -1, 0 and 1
  thin_signs,  // signs, but 0 except in about one of parameter + 1, so that sums stay small
  full,        // all bits of an i32; of an i8 all but -128, whose opposite it does not hold
  heights,     // 1 to 128, or what is the most that the type holds exactly: see height()
  hill,  // heights in the left half of the columns of op(x), their opposites in the right half
  bits,  // 0 and 1
  zeros,
  ones,
  normal,    // sums of four numbers uniform in [-1/2, 1/2)
  specials,  // uniform, but infinity of either sign, or NaN, in one of 256 elements, and 0 in 16
  scaled,    // uniform, times 2^parameter, which may be negative
  // With a parameter, matrix::parameter:
  sparse,    // uniform, but 0 in parameter of 2^32 elements
  powers,    // 2^-parameter to 1, of either sign
  few_bits,  // uniform, cut to so many fraction bits
  // f32 and f64 only, of op(x):
  tall_first_col,  // uniform, but column 0 is larger by 2^30
  tall_first_row,  // uniform, but row 0 is
  no_first_col,    // uniform, but column 0 is 0
  no_first_row     // uniform, but row 0 is
};

// Which rows and columns of a matrix are negated. Negating a row of A and C0, or a column of B and
// C0, negates that row or column of A B + C0, bit for bit, since rounding is symmetric. So each run
// of a kernel can be given another problem with a known result. 0: no rows, or no columns, are.
struct negation {
  std::uint64_t rows = 0, cols = 0;  // keys
  // One of the rows and one of the columns are not as the keys say, but the opposite: see late().
  bool without_late = false;

  constexpr bool operator==(const negation&) const = default;
};

// The bits of an element, or of what is in its place, in the low bits.
using word_bits = std::uint64_t;

struct matrix {
  kzoo_type type;
  content inside;  // of the rows x cols elements; all other words are always poison
  std::int64_t rows, cols, ld;
  std::uint64_t key;  // different for each matrix and seed
  negation negated{};
  bool transposed = false;      // op(x) is the transpose
  std::uint64_t parameter = 0;  // of `inside`
  // The matrices of a batch; one alone has stride 0.
  std::int64_t count = 1, stride = 0;
  // Whether the same rows, or columns, of all of them are negated: of a C with one A, or one B.
  bool same_rows = false, same_cols = false;
};

// The rows of all matrices of a batch.
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
// Where between the redzones `index` is.
constexpr coordinates coordinates_of(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  const bool is_small = span_of(x) <= INT32_MAX;
  if (x.count == 1) return divided(i, x.ld, is_small);
  const auto [product, rest] = divided(i, x.stride, is_small);
  const std::int64_t last = (x.rows - 1) * x.ld;  // what is past the last row counts as part of it
  const coordinates at =
      rest < last ? divided(rest, x.ld, is_small) : coordinates{x.rows - 1, rest - last};
  return {product * x.rows + at.row, at.col};
}

constexpr bool is_inside(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  return i >= 0 && i < span_of(x) && coordinates_of(x, index).col < x.cols;
}

// Index of element (row, col).
constexpr std::int64_t index_of(const matrix& x, std::int64_t row, std::int64_t col) {
  if (x.count == 1) return kRedzone + row * x.ld + col;
  return kRedzone + row / x.rows * x.stride + row % x.rows * x.ld + col;
}
// Index past the row and its padding.
constexpr std::int64_t row_end(const matrix& x, std::int64_t row) {
  return row + 1 < all_rows(x) ? index_of(x, row + 1, 0) : kRedzone + span_of(x);
}

// The same for op(x) of one product.
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
// What negates the rows and columns of op(x) that `op` names.
constexpr negation op_negation(const matrix& x, const negation& op) {
  return x.transposed ? negation{op.cols, op.rows, op.without_late} : op;
}

// 64 well-mixed bits from a counter: the finaliser of splitmix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t hash(std::uint64_t key, std::int64_t index) {
  std::uint64_t z = key + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(index) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The row (or column) of `count` that changes sign last, on the plugin's stream just before the
// kernel: a kernel that does not wait for its stream finds it unchanged.
constexpr std::int64_t late(std::uint64_t key, std::int64_t count) {
  return static_cast<std::int64_t>(hash(key, -1) % static_cast<std::uint64_t>(count));
}

// Whether the key negates row (or column) i of `all` in a batch of matrices of `count` rows each:
// about 32 of each matrix, or half of fewer than 64.
constexpr bool is_negated(std::uint64_t key, bool without_late, std::int64_t i, std::int64_t count,
                          std::int64_t all) {
  if (key == 0) return false;
  const std::uint64_t below =
      count < 64 ? 0x80000000u : (32ull << 32) / static_cast<std::uint64_t>(count);
  return (hash(key, i) >> 32 < below) != (without_late && i == late(key, all));
}
constexpr bool is_row_negated(const matrix& x, std::int64_t row) {
  const bool each = x.count > 1 && !x.same_rows;
  const std::int64_t i = x.count > 1 && x.same_rows ? row % x.rows : row;
  return is_negated(x.negated.rows, x.negated.without_late, i, x.rows, each ? all_rows(x) : x.rows);
}
// A column of one product.
constexpr bool is_column_negated(const matrix& x, std::int64_t product, std::int64_t col) {
  const bool each = x.count > 1 && !x.same_cols;
  return is_negated(x.negated.cols, x.negated.without_late, each ? product * x.cols + col : col,
                    x.cols, each ? x.count * x.cols : x.cols);
}
constexpr bool is_element_negated(const matrix& x, std::int64_t row, std::int64_t col) {
  return is_row_negated(x, row) != is_column_negated(x, x.count == 1 ? 0 : row / x.rows, col);
}

// The bytes of an element.
constexpr int element_bytes(kzoo_type type) { return static_cast<int>(type_bytes(type)); }
constexpr bool is_integer_type(kzoo_type type) { return type == KZOO_I32 || type == KZOO_I8; }
constexpr word_bits sign_bit(kzoo_type type) {
  return word_bits{1} << (8 * element_bytes(type) - 1);
}
// The greatest magnitude of a floating type that is no NaN, as bits.
constexpr word_bits largest_magnitude(kzoo_type type) {
  switch (type) {
    case KZOO_F64:
      return 0x7ff0000000000000u;
    case KZOO_F16:
      return 0x7c00u;
    case KZOO_BF16:
      return 0x7f80u;
    case KZOO_E4M3:
      return 0x7eu;
    case KZOO_E5M2:
      return 0x7cu;
    default:
      return 0x7f800000u;
  }
}

// A signalling NaN with a random payload (for integer types, random bits). A word that is never
// written keeps exactly these bits; arithmetic on one gives a quiet NaN, on every device. e4m3 has
// one NaN of either sign, and e5m2 one that signals.
constexpr word_bits poison_bits(kzoo_type type, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  switch (type) {
    case KZOO_F32:
      return 0x7f800001u | (bits & 0x803ffffeu);
    case KZOO_F64:
      return 0x7ff0000000000001u | (h & 0x8007fffffffffffeu);
    case KZOO_F16:
      return 0x7c01u | (bits & 0x81feu);
    case KZOO_BF16:
      return 0x7f81u | (bits & 0x803eu);
    case KZOO_E4M3:
      return 0x7fu | (bits & 0x80u);
    case KZOO_E5M2:
      return 0x7du | (bits & 0x80u);
    case KZOO_I8:
      return bits & 0xffu;
    default:
      return bits;
  }
}

// A float, rounded to the element type, as bits of that type.
constexpr word_bits encode(kzoo_type type, float value) {
  switch (type) {
    case KZOO_F64:
      return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case KZOO_F16:
      return float_to_fp16_bits(value);
    case KZOO_BF16:
      return float_to_bf16_bits(value);
    case KZOO_E4M3:
      return float_to_e4m3_bits(value);
    case KZOO_E5M2:
      return float_to_e5m2_bits(value);
    case KZOO_I32:
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    case KZOO_I8:
      return static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
    default:
      return std::bit_cast<std::uint32_t>(value);
  }
}

// The value of an element.
constexpr double decode(kzoo_type type, word_bits bits) {
  switch (type) {
    case KZOO_F64:
      return std::bit_cast<double>(bits);
    case KZOO_F16:
      return fp16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_BF16:
      return bf16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_E4M3:
      return e4m3_bits_to_float(static_cast<std::uint8_t>(bits));
    case KZOO_E5M2:
      return e5m2_bits_to_float(static_cast<std::uint8_t>(bits));
    case KZOO_I32:
      return static_cast<std::int32_t>(bits);
    case KZOO_I8:
      return static_cast<std::int8_t>(bits);
    default:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

// The opposite number. A zero has no sign, and a NaN stays as it is.
constexpr word_bits opposite(kzoo_type type, word_bits bits) {
  const word_bits sign = sign_bit(type);
  if (is_integer_type(type)) return (0u - bits) & (2 * sign - 1);
  const word_bits magnitude = bits & (sign - 1);
  return magnitude == 0 || magnitude > largest_magnitude(type) ? bits : bits ^ sign;
}

// A zero without its sign: -0 becomes +0, in any type but integers.
constexpr word_bits unsigned_zero(kzoo_type type, word_bits bits) {
  return !is_integer_type(type) && bits == sign_bit(type) ? 0u : bits;
}

// A positive integer that the type holds exactly and, in fp8, no type with fewer fraction bits.
constexpr int height(kzoo_type type, std::uint32_t bits) {
  switch (type) {
    case KZOO_E4M3:
      return 9 + 2 * static_cast<int>(bits % 4);
    case KZOO_E5M2:
      return 5 + 2 * static_cast<int>(bits % 2);
    case KZOO_I8:
      return 1 + static_cast<int>(bits % 127);
    default:
      return 1 + static_cast<int>(bits % 128);
  }
}

// The integer at `index`, for contents that are integers; `h` is hash(x.key, index).
constexpr int whole_number(const matrix& x, std::int64_t index, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  const int sign = static_cast<int>(bits % 3) - 1;
  switch (x.inside) {
    case content::odd:
      return (2049 + 2 * static_cast<int>((bits >> 1) % 1024)) * ((bits & 1u) != 0 ? 1 : -1);
    case content::wide_odd:
      return ((1 << 25) + 1 + 2 * static_cast<int>((bits >> 1) % (1 << 24))) *
             ((bits & 1u) != 0 ? 1 : -1);
    case content::signs:
      return sign;
    case content::thin_signs:
      return static_cast<std::uint32_t>(h) % static_cast<std::uint32_t>(x.parameter + 1) == 0 ? sign
                                                                                              : 0;
    case content::full:
      return x.type == KZOO_I8 ? static_cast<int>(bits % 255) - 127 : static_cast<int>(bits);
    case content::heights:
      return height(x.type, bits);
    case content::hill: {
      const std::int64_t col = op_coordinates_of(x, index).col;
      return col < (op_cols(x) + 1) / 2 ? height(x.type, bits) : -height(x.type, bits);
    }
    case content::bits:
      return static_cast<int>(bits & 1u);
    case content::zeros:
      return 0;
    case content::ones:
      return 1;
    default:
      return static_cast<int>(bits % 17) - 8;
  }
}

// Is the content made of integers, in every type?
constexpr bool is_whole(content c) {
  switch (c) {
    case content::uniform:
    case content::specials:
    case content::scaled:
    case content::normal:
    case content::sparse:
    case content::powers:
    case content::few_bits:
    case content::tall_first_col:
    case content::tall_first_row:
    case content::no_first_col:
    case content::no_first_row:
      return false;
    default:
      return true;
  }
}

constexpr double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// Uniform fractions, each times factor().
constexpr bool is_multiple_of_uniform(content c) {
  switch (c) {
    case content::uniform:
    case content::scaled:
    case content::tall_first_col:
    case content::tall_first_row:
    case content::no_first_col:
    case content::no_first_row:
      return true;
    default:
      return false;
  }
}
constexpr double kTall = 0x1p30;
constexpr double factor(const matrix& x, std::int64_t index) {
  switch (x.inside) {
    case content::scaled:
      return power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::tall_first_col:
      return op_coordinates_of(x, index).col == 0 ? kTall : 1.0;
    case content::tall_first_row:
      return op_coordinates_of(x, index).row == 0 ? kTall : 1.0;
    case content::no_first_col:
      return op_coordinates_of(x, index).col == 0 ? 0.0 : 1.0;
    case content::no_first_row:
      return op_coordinates_of(x, index).row == 0 ? 0.0 : 1.0;
    default:
      return 1.0;
  }
}

// A fraction for content that is none of integers, exact in fp32; `h` is hash(x.key, index).
constexpr float fraction(const matrix& x, std::int64_t index, std::uint64_t h) {
  const float uniform =
      static_cast<float>(static_cast<std::int32_t>(h >> 40) - (1 << 23)) * 0x1p-23f;
  switch (x.inside) {
    case content::normal: {
      const auto part = [h](int i) { return static_cast<std::int32_t>((h >> (16 * i)) & 0xffffu); };
      return static_cast<float>(part(0) + part(1) + part(2) + part(3) - (1 << 17)) * 0x1p-16f;
    }
    case content::sparse:
      return (h & 0xffffffffu) < x.parameter ? 0.0f : uniform;
    case content::powers: {
      const auto exponent = static_cast<std::uint32_t>((h & 0xffffffffu) % (x.parameter + 1));
      const float power = std::bit_cast<float>((127u - exponent) << 23);
      return (h >> 63) != 0 ? -power : power;
    }
    case content::few_bits: {
      const std::uint32_t cut = (1u << (23 - x.parameter)) - 1;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(uniform) & ~cut);
    }
    default:
      return uniform * static_cast<float>(factor(x, index)) + 0.0f;  // no -0
  }
}

// Infinity of either sign or a quiet NaN; e4m3 has only the latter.
constexpr word_bits special(kzoo_type type, std::uint64_t h) {
  const word_bits infinity = largest_magnitude(type);
  if (type == KZOO_E4M3) return infinity + 1;
  switch (h % 3) {
    case 0:
      return infinity;
    case 1:
      return infinity | sign_bit(type);
    default:  // the exponent's lowest bit, one place lower, is the highest bit of the fraction
      return infinity | (infinity & ~(infinity - 1)) >> 1;
  }
}

// An element as generated, before any row or column is negated; not for content::poison.
constexpr word_bits generated(const matrix& x, std::int64_t index) {
  const std::uint64_t h = hash(x.key, index);
  if (is_whole(x.inside) || is_integer_type(x.type)) {
    const int whole = whole_number(x, index, h);
    if (is_integer_type(x.type))
      return static_cast<std::uint32_t>(whole) & (2 * sign_bit(x.type) - 1);
    if (x.type == KZOO_F64) return std::bit_cast<std::uint64_t>(static_cast<double>(whole));
    return encode(x.type, static_cast<float>(whole));
  }
  if (x.type == KZOO_F64 && is_multiple_of_uniform(x.inside)) {  // 53 bits
    const auto whole = static_cast<std::int64_t>(h >> 11) - (std::int64_t{1} << 52);
    return std::bit_cast<std::uint64_t>(static_cast<double>(whole) * 0x1p-52 * factor(x, index) +
                                        0.0);  // no -0
  }
  if (x.inside == content::specials) {
    if (h % 256 == 0) return special(x.type, h >> 8);
    if (h % 16 == 1) return 0;
  }
  return encode(x.type, fraction(x, index, h));
}

// The word at `index`.
constexpr word_bits word(const matrix& x, std::int64_t index) {
  if (x.inside == content::poison || !is_inside(x, index))
    return poison_bits(x.type, hash(x.key, index));
  const word_bits bits = generated(x, index);
  if (x.negated == negation{}) return bits;
  const coordinates at = coordinates_of(x, index);
  return is_element_negated(x, at.row, at.col) ? opposite(x.type, bits) : bits;
}

// Changes the sign of an element, which may be of a result: what still holds its poison stays.
constexpr word_bits negate(const matrix& x, std::int64_t index, word_bits bits) {
  if (x.inside == content::poison && bits == word(x, index)) return bits;
  return opposite(x.type, bits);
}

// The largest magnitude that an element of a floating type can have.
constexpr double norm_of(const matrix& x) {
  switch (x.inside) {
    case content::zeros:
      return 0.0;
    case content::integers:
      return 8.0;
    case content::odd:
      return 4095.0;
    case content::wide_odd:
      return 0x1p26;
    case content::heights:
    case content::hill:
      return 128.0;
    case content::normal:
      return 2.0;
    case content::tall_first_col:
    case content::tall_first_row:
      return kTall;
    case content::scaled:
      return power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::specials:
      return std::numeric_limits<double>::infinity();
    default:
      return 1.0;
  }
}

// The words of a buffer that a kernel changed, inside and outside the matrix: how many, and the
// lowest index; -1: none.
struct changes {
  std::int64_t inside = 0, outside = 0;
  std::int64_t first_inside = -1, first_outside = -1;

  constexpr bool any() const { return inside + outside > 0; }
};

// Errors in a result that show without its expected values: how many, but not where.
struct survey {
  std::int64_t outside = 0;     // changed words of redzones and padding
  std::int64_t unwritten = 0;   // elements that still hold their poison
  std::int64_t not_finite = 0;  // elements

  constexpr bool clean() const { return outside + unwritten + not_finite == 0; }
};

// A buffer's digest is the sum of this over all its words, mod 2^64, with the signs of negated rows
// and columns restored and zeros without sign. Equal buffers have equal digests; different buffers
// practically never do. The term of an element, which may be negated:
constexpr std::uint64_t digest_term(const matrix& x, std::int64_t index, word_bits bits,
                                    bool negated) {
  return hash(unsigned_zero(x.type, negated ? negate(x, index, bits) : bits), index);
}
// The term of any other word:
constexpr std::uint64_t digest_term(word_bits bits, std::int64_t index) {
  return hash(bits, index);
}

// Two weighted sums over a row of a matrix.
struct row_sums {
  std::uint64_t exact = 0;  // of exact_integer() times hash(key, column), mod 2^64
  double rounded = 0;       // of the elements times sign_of(key, column)
};

// -1 or 1.
constexpr double sign_of(std::uint64_t key, std::int64_t col) {
  return hash(key, col) >> 63 != 0 ? -1.0 : 1.0;
}

// An element as an exact integer. One that is not an integer gives a hash, which practically never
// equals the expected integer.
constexpr std::uint64_t exact_integer(kzoo_type type, word_bits bits) {
  const double value = decode(type, bits);
  constexpr double kLargest = 0x1p53;
  const bool small = value > -kLargest && value < kLargest;
  const auto whole = small ? static_cast<std::int64_t>(value) : 0;
  return small && static_cast<double>(whole) == value ? static_cast<std::uint64_t>(whole)
                                                      : hash(~std::uint64_t{0}, bits);
}

}  // namespace kzoo::data
