#pragma once
// What a device tells about a buffer instead of sending it: the words that a kernel changed, errors
// that show without the expected result, its digest, and sums of its rows.

#include "data/contents.hpp"

#include <kzoo/abi.h>

#include <cstdint>

namespace kzoo::data {

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
