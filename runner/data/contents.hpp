#pragma once
// Contents of every word of every matrix buffer before a kernel runs, as a pure function of its
// index. The device's buffers are filled by it, and the expected result is computed from it. Memory
// that a kernel must not write (inputs, row padding, redzones) is checked against it. Therefore no
// copy is sent, and none has to be kept. Host and device get equal bits: integer hashing, then
// exact or correctly rounded conversion.

#include "data/element.hpp"
#include "data/matrix.hpp"

#include <kzoo/abi.h>

#include <bit>
#include <cstdint>
#include <limits>

namespace kzoo::data {

// A positive integer that the type holds exactly and, for fp8, no type with fewer fraction bits.
constexpr int positive_integer(kzoo_type type, std::uint32_t bits) {
  switch (type) {
    case KZOO_E4M3: return 9 + 2 * static_cast<int>(bits % 4);
    case KZOO_E5M2: return 5 + 2 * static_cast<int>(bits % 2);
    case KZOO_I8: return 1 + static_cast<int>(bits % 127);
    default: return 1 + static_cast<int>(bits % 128);
  }
}

// 1 or -1 in one place of each line, drawn by the line's number and the matrix's key; else 0.
constexpr int lone_sign(std::uint64_t key, std::int64_t line, std::int64_t at, std::int64_t length,
                        std::uint64_t h) {
  const std::uint64_t drawn = hash(~key, line) % static_cast<std::uint64_t>(length);
  if (drawn != static_cast<std::uint64_t>(at)) return 0;
  return (h >> 63) != 0 ? -1 : 1;
}

// The integer at `index`, for integer contents; `h` is hash(x.key, index).
constexpr std::int64_t whole_number(const matrix& x, std::int64_t index, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  const int sign = static_cast<int>(bits % 3) - 1;
  switch (x.inside) {
    case content::odd: {
      const std::uint64_t half = std::uint64_t{1} << (x.parameter - 1);
      const auto odd = static_cast<std::int64_t>(half + 1 + 2 * (h % (half / 2)));
      return (h >> 63) != 0 ? -odd : odd;
    }
    case content::sign_in_col: {
      const coordinates at = op_coordinates_of(x, index);
      return lone_sign(x.key, at.col, at.row, op_rows(x), h);
    }
    case content::sign_in_row: {
      const coordinates at = op_coordinates_of(x, index);
      return lone_sign(x.key, at.row, at.col, op_cols(x), h);
    }
    case content::signs: return sign;
    case content::sparse_signs:
      return static_cast<std::uint32_t>(h) % static_cast<std::uint32_t>(x.parameter + 1) == 0 ? sign
                                                                                              : 0;
    case content::whole_range:
      return x.type == KZOO_I8 ? static_cast<int>(bits % 255) - 127 : static_cast<int>(bits);
    case content::positive: return positive_integer(x.type, bits);
    case content::positive_then_negative: {
      const std::int64_t col = op_coordinates_of(x, index).col;
      return col < (op_cols(x) + 1) / 2 ? positive_integer(x.type, bits)
                                        : -positive_integer(x.type, bits);
    }
    case content::bits: return static_cast<int>(bits & 1u);
    case content::zeros: return 0;
    case content::ones: return 1;
    case content::one_or_two: return 1 + static_cast<int>(bits & 1u);
    case content::offsets: return static_cast<int>(first_row_of(x, coordinates_of(x, index).col));
    default: return static_cast<int>(bits % 17) - 8;
  }
}

// An int4 element; `element` counts two per word. Fractional contents give any number.
constexpr int small_integer(const matrix& x, std::int64_t element) {
  const std::uint64_t h = hash(x.key, element);
  const auto any = static_cast<int>((h >> 32) % 16) - 8;
  switch (x.inside) {
    case content::signs:
    case content::sparse_signs:
    case content::bits:
    case content::zeros:
    case content::ones: return static_cast<int>(whole_number(x, element, h));
    case content::sparse: return (h & 0xffffffffu) < x.parameter ? 0 : any;
    default: return any;
  }
}

// Whether the content has only integers, in every type.
constexpr bool is_whole(content c) {
  switch (c) {
    case content::uniform:
    case content::specials:
    case content::scaled:
    case content::normal:
    case content::sparse:
    case content::powers:
    case content::few_bits:
    case content::scales:
    case content::large_first_col:
    case content::large_first_row:
    case content::zero_first_col:
    case content::zero_first_row: return false;
    default: return true;
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
    case content::large_first_col:
    case content::large_first_row:
    case content::zero_first_col:
    case content::zero_first_row: return true;
    default: return false;
  }
}
constexpr double kLarge = 0x1p30;
constexpr double factor(const matrix& x, std::int64_t index) {
  switch (x.inside) {
    case content::scaled: return power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::large_first_col: return op_coordinates_of(x, index).col == 0 ? kLarge : 1.0;
    case content::large_first_row: return op_coordinates_of(x, index).row == 0 ? kLarge : 1.0;
    case content::zero_first_col: return op_coordinates_of(x, index).col == 0 ? 0.0 : 1.0;
    case content::zero_first_row: return op_coordinates_of(x, index).row == 0 ? 0.0 : 1.0;
    default: return 1.0;
  }
}

// A multiple of 2^-23 in [-1, 1), exact in fp32.
constexpr float uniform_fraction(std::uint64_t h) {
  return static_cast<float>(static_cast<std::int32_t>(h >> 40) - (1 << 23)) * 0x1p-23f;
}

// A fraction for fractional content, exact in fp32; `h` is hash(x.key, index).
constexpr float fraction(const matrix& x, std::int64_t index, std::uint64_t h) {
  const float uniform = uniform_fraction(h);
  switch (x.inside) {
    case content::normal: {
      const auto part = [h](int i) { return static_cast<std::int32_t>((h >> (16 * i)) & 0xffffu); };
      return static_cast<float>(part(0) + part(1) + part(2) + part(3) - (1 << 17)) * 0x1p-16f;
    }
    case content::sparse: return (h & 0xffffffffu) < x.parameter ? 0.0f : uniform;
    case content::powers: {
      const auto exponent = static_cast<std::uint32_t>((h & 0xffffffffu) % (x.parameter + 1));
      const float power = std::bit_cast<float>((127u - exponent) << 23);
      return (h >> 63) != 0 ? -power : power;
    }
    case content::scales: {
      const auto exponent = static_cast<std::uint32_t>(126 + x.parameter + (h >> 63));
      return std::bit_cast<float>(exponent << 23 |
                                  static_cast<std::uint32_t>(h >> 40) % (1u << 23));
    }
    case content::few_bits: {
      const std::uint32_t cut = (1u << (23 - x.parameter)) - 1;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(uniform) & ~cut);
    }
    default: return uniform * static_cast<float>(factor(x, index)) + 0.0f;  // no -0
  }
}

// Infinity of either sign or a quiet NaN; e4m3 has only NaN.
constexpr word_bits special(kzoo_type type, bool only_nan, std::uint64_t h) {
  const word_bits infinity = largest_magnitude(type);
  if (type == KZOO_E4M3) return infinity + 1;
  switch (only_nan ? 2 : h % 3) {
    case 0: return infinity;
    case 1: return infinity | sign_bit(type);
    default:  // the exponent's lowest bit, shifted right, is the highest bit of the fraction
      return infinity | (infinity & ~(infinity - 1)) >> 1;
  }
}

#ifdef __CUDA_ARCH__
// On the GPU this long code exists once: in each of its many users it would take minutes to
// compile.
[[gnu::noinline]] constexpr word_bits generated_by_rule(const matrix& x, std::int64_t index);
#endif
// Like generated(), for the rare cases.
constexpr word_bits generated_by_rule(const matrix& x, std::int64_t index) {
  if (x.type == KZOO_I4)
    return packed(small_integer(x, 2 * index), small_integer(x, 2 * index + 1));
  const std::uint64_t h = hash(x.key, index);
  if (is_whole(x.inside) || is_integer_type(x.type)) {
    const std::int64_t whole = whole_number(x, index, h);
    if (is_integer_type(x.type))
      return static_cast<std::uint32_t>(whole) & (2 * sign_bit(x.type) - 1);
    double value = static_cast<double>(whole);
    if (x.spread != 0) {
      const coordinates at = op_coordinates_of(x, index);
      value *= power_of_two(exponent_at(x, at.row, at.col));
    }
    if (x.type == KZOO_F64) return std::bit_cast<std::uint64_t>(value);
    return encode(x.type, static_cast<float>(value));
  }
  if (x.type == KZOO_F64 && is_multiple_of_uniform(x.inside)) {  // 53 bits
    const auto whole = static_cast<std::int64_t>(h >> 11) - (std::int64_t{1} << 52);
    return std::bit_cast<std::uint64_t>(static_cast<double>(whole) * 0x1p-52 * factor(x, index) +
                                        0.0);  // no -0
  }
  if (x.inside == content::specials) {
    if (h % 256 == 0) return special(x.type, x.parameter != 0, h >> 8);
    if (h % 16 == 1) return 0;
  }
  return encode(x.type, fraction(x, index, h));
}

// An element before the late row's inversion; not for content::poison.
constexpr word_bits generated(const matrix& x, std::int64_t index) {
  const bool usual = x.inside == content::uniform &&
                     (x.type == KZOO_F32 || x.type == KZOO_F16 || x.type == KZOO_BF16);
  return usual ? encode(x.type, uniform_fraction(hash(x.key, index))) : generated_by_rule(x, index);
}

// The element at `index`; `row` counts over all matrices.
constexpr word_bits element_in(const matrix& x, std::int64_t row, std::int64_t index) {
  const word_bits bits = generated(x, index);
  return row == x.late_row ? opposite(x.type, bits) : bits;
}

constexpr word_bits word(const matrix& x, std::int64_t index) {
  if (x.inside == content::poison || !is_inside(x, index))
    return poison_bits(x.type, hash(x.key, index));
  return element_in(x, x.late_row < 0 ? 0 : coordinates_of(x, index).row, index);
}

// The largest magnitude of an element of a floating-point type.
constexpr double norm_of(const matrix& x) {
  if (x.type == KZOO_I4) return x.inside == content::zeros ? 0.0 : 8.0;
  switch (x.inside) {
    case content::zeros: return 0.0;
    case content::integers: return 8.0;
    case content::odd: return power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::positive:
    case content::positive_then_negative: return 128.0;
    case content::normal:
    case content::one_or_two: return 2.0;
    case content::scales: return 2.0 * power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::large_first_col:
    case content::large_first_row: return kLarge;
    case content::scaled: return power_of_two(static_cast<std::int64_t>(x.parameter));
    case content::specials: return std::numeric_limits<double>::infinity();
    default: return 1.0;
  }
}

// A device's report on a buffer: changed words, errors visible by themselves, the digest.

// Words changed by a kernel, inside and outside the matrix: number, lowest index; -1: none.
struct changes {
  std::int64_t inside = 0, outside = 0;
  std::int64_t first_inside = -1, first_outside = -1;

  constexpr bool any() const { return inside + outside > 0; }
};

// Number of errors in a result that show without its expected values.
struct survey {
  std::int64_t outside = 0;     // changed words of redzones and padding
  std::int64_t unwritten = 0;   // elements that still hold their poison
  std::int64_t not_finite = 0;  // elements

  constexpr bool clean() const { return outside + unwritten + not_finite == 0; }
};

// A buffer's digest is the sum of this over all its words, mod 2^64, ignoring the sign of zeros.
// Equal buffers have equal digests; different buffers practically never do.
constexpr std::uint64_t digest_term(const matrix& x, std::int64_t index, word_bits bits) {
  return hash(unsigned_zero(x.type, bits), index);
}

// Result of one pass over a buffer.
struct reading {
  std::uint64_t digest = 0;
  data::survey survey;
};

}  // namespace kzoo::data
