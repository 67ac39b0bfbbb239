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

#include <kzoo/abi.h>
#include <kzoo/numeric.hpp>

#include <bit>
#include <cstdint>

namespace kzoo::data {

// Size of the redzones before and after each matrix, in elements. No kernel may write to them.
inline constexpr std::int64_t kRedzone = 1024;

// What the elements of a matrix are.
enum class content : std::uint32_t {
  uniform,     // fractions in [-1, 1), zero-mean
  integers,    // integers in [-8, 8]
  poison,      // signalling NaNs; random words for integer types
  odd,         // odd integers of 12 bits and either sign: exact in fp32, not in TF32
  signs,       // -1, 0 and 1
  thin_signs,  // signs, but 0 except in about one of rows / 512 + 1, so that sums stay small
  hill,        // 1 to 128 in the left half of the columns, -128 to -1 in the right half
  bits,        // 0 and 1
  tall_first,  // uniform, but column 0 is larger by 2^30; f32 only
  no_first     // uniform, but row 0 is 0; f32 only
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

struct matrix {
  kzoo_type type;
  content inside;  // of the rows x cols elements; all other words are always poison
  std::int64_t rows, cols, ld;
  std::uint64_t key;  // different for each matrix and seed
  negation negated{};
};

constexpr std::int64_t word_count(const matrix& x) { return x.rows * x.ld + 2 * kRedzone; }

struct coordinates {
  std::int64_t row, col;  // col >= cols: padding
};

// Where in the rows x ld elements `index` is, which must not be in a redzone.
constexpr coordinates coordinates_of(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  if (x.rows * x.ld <= INT32_MAX) {  // a GPU divides 32-bit numbers several times faster
    const auto i32 = static_cast<std::uint32_t>(i), ld = static_cast<std::uint32_t>(x.ld);
    return {i32 / ld, i32 % ld};
  }
  return {i / x.ld, i % x.ld};
}

constexpr bool is_inside(const matrix& x, std::int64_t index) {
  const std::int64_t i = index - kRedzone;
  return i >= 0 && i < x.rows * x.ld && coordinates_of(x, index).col < x.cols;
}

// Index of element (row, col).
constexpr std::int64_t index_of(const matrix& x, std::int64_t row, std::int64_t col) {
  return kRedzone + row * x.ld + col;
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

// Whether the key negates row (or column) i of `count`: about 32 of them, or half of fewer than 64.
constexpr bool is_negated(std::uint64_t key, bool without_late, std::int64_t i,
                          std::int64_t count) {
  if (key == 0) return false;
  const std::uint64_t below =
      count < 64 ? 0x80000000u : (32ull << 32) / static_cast<std::uint64_t>(count);
  return (hash(key, i) >> 32 < below) != (without_late && i == late(key, count));
}
constexpr bool is_row_negated(const matrix& x, std::int64_t row) {
  return is_negated(x.negated.rows, x.negated.without_late, row, x.rows);
}
constexpr bool is_column_negated(const matrix& x, std::int64_t col) {
  return is_negated(x.negated.cols, x.negated.without_late, col, x.cols);
}

// A signalling NaN with a random payload (for integer types, random bits). A word that is never
// written keeps exactly these bits; arithmetic on one gives a quiet NaN, on every device.
constexpr std::uint32_t poison_bits(kzoo_type type, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  switch (type) {
    case KZOO_F32:
      return 0x7f800001u | (bits & 0x803ffffeu);
    case KZOO_F16:
      return 0x7c01u | (bits & 0x81feu);
    case KZOO_BF16:
      return 0x7f81u | (bits & 0x803eu);
    default:
      return bits;
  }
}

// A float, rounded to the element type, as bits of that type.
constexpr std::uint32_t encode(kzoo_type type, float value) {
  switch (type) {
    case KZOO_F16:
      return float_to_fp16_bits(value);
    case KZOO_BF16:
      return float_to_bf16_bits(value);
    case KZOO_I32:
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    default:
      return std::bit_cast<std::uint32_t>(value);
  }
}

// The value of an element.
constexpr double decode(kzoo_type type, std::uint32_t bits) {
  switch (type) {
    case KZOO_F16:
      return fp16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_BF16:
      return bf16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_I32:
      return static_cast<std::int32_t>(bits);
    default:
      return std::bit_cast<float>(bits);
  }
}

// The opposite number. A zero has no sign, and a NaN stays as it is.
constexpr std::uint32_t opposite(kzoo_type type, std::uint32_t bits) {
  const auto flip = [bits](std::uint32_t sign, std::uint32_t infinity) {
    const std::uint32_t magnitude = bits & (sign - 1);
    return magnitude == 0 || magnitude > infinity ? bits : bits ^ sign;
  };
  switch (type) {
    case KZOO_F32:
      return flip(0x80000000u, 0x7f800000u);
    case KZOO_F16:
      return flip(0x8000u, 0x7c00u);
    case KZOO_BF16:
      return flip(0x8000u, 0x7f80u);
    default:
      return 0u - bits;
  }
}

// A zero without its sign: -0 becomes +0, in any type but integers.
constexpr std::uint32_t unsigned_zero(kzoo_type type, std::uint32_t bits) {
  const bool is_minus_zero = bits == (type == KZOO_F32   ? 0x80000000u
                                      : type == KZOO_I32 ? 0u
                                                         : 0x8000u);
  return is_minus_zero ? 0u : bits;
}

// The integer at `index`, for contents that are integers; `h` is hash(x.key, index).
constexpr int whole_number(const matrix& x, std::int64_t index, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  const int sign = static_cast<int>(bits % 3) - 1;
  switch (x.inside) {
    case content::odd:
      return (2049 + 2 * static_cast<int>((bits >> 1) % 1024)) * ((bits & 1u) != 0 ? 1 : -1);
    case content::signs:
      return sign;
    case content::thin_signs:
      return static_cast<std::uint32_t>(h) % static_cast<std::uint32_t>(x.rows / 512 + 1) == 0
                 ? sign
                 : 0;
    case content::hill: {
      const int height = 1 + static_cast<int>(bits % 128);
      return (index - kRedzone) % x.ld < (x.cols + 1) / 2 ? height : -height;
    }
    case content::bits:
      return static_cast<int>(bits & 1u);
    default:
      return static_cast<int>(bits % 17) - 8;
  }
}

// An element as generated, before any row or column is negated; not for content::poison.
constexpr std::uint32_t generated(const matrix& x, std::int64_t index) {
  const std::uint64_t h = hash(x.key, index);
  const bool with_first = x.inside == content::tall_first || x.inside == content::no_first;
  if ((x.inside != content::uniform && !with_first) || x.type == KZOO_I32) {
    return encode(x.type, static_cast<float>(whole_number(x, index, h)));
  }
  // 24 bits: every value is exact in fp32.
  const auto fraction = static_cast<std::int32_t>(h >> 40) - (1 << 23);
  float value = static_cast<float>(fraction) * 0x1p-23f;
  if (with_first) {
    const coordinates at = coordinates_of(x, index);
    if (x.inside == content::tall_first && at.col == 0) value *= 0x1p30f;
    if (x.inside == content::no_first && at.row == 0) value = 0.0f;
  }
  return encode(x.type, value);
}

// The word at `index`, in the low bits for 16-bit types.
constexpr std::uint32_t word(const matrix& x, std::int64_t index) {
  if (x.inside == content::poison || !is_inside(x, index))
    return poison_bits(x.type, hash(x.key, index));
  const std::uint32_t bits = generated(x, index);
  if (x.negated == negation{}) return bits;
  const coordinates at = coordinates_of(x, index);
  return is_row_negated(x, at.row) != is_column_negated(x, at.col) ? opposite(x.type, bits) : bits;
}

// Changes the sign of an element, which may be of a result: what still holds its poison stays.
constexpr std::uint32_t negate(const matrix& x, std::int64_t index, std::uint32_t bits) {
  if (x.inside == content::poison && bits == word(x, index)) return bits;
  return opposite(x.type, bits);
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
constexpr std::uint64_t digest_term(const matrix& x, std::int64_t index, std::uint32_t bits,
                                    bool negated) {
  return hash(unsigned_zero(x.type, negated ? negate(x, index, bits) : bits), index);
}
// The term of any other word:
constexpr std::uint64_t digest_term(std::uint32_t bits, std::int64_t index) {
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
constexpr std::uint64_t exact_integer(kzoo_type type, std::uint32_t bits) {
  const double value = decode(type, bits);
  constexpr double kLargest = 0x1p53;
  const bool small = value > -kLargest && value < kLargest;
  const auto whole = small ? static_cast<std::int64_t>(value) : 0;
  return small && static_cast<double>(whole) == value ? static_cast<std::uint64_t>(whole)
                                                      : hash(~std::uint64_t{0}, bits);
}

}  // namespace kzoo::data
