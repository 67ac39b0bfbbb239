#pragma once
// An element of a matrix as bits, for each type. constexpr, also in the headers that include this
// header, so that nvcc compiles the same functions for the device.

#include <kzoo/abi.h>
#include <kzoo/numeric.hpp>
#include <kzoo/type_names.hpp>

#include <bit>
#include <cstdint>

namespace kzoo::data {

// The bits of an element or of padding, in the low bits. A word of i4 has two elements: here they
// are one number, and rows.hpp separates them.
using word_bits = std::uint64_t;

constexpr int element_bytes(kzoo_type type) { return static_cast<int>(type_bytes(type)); }
constexpr bool is_integer_type(kzoo_type type) { return type == KZOO_I32 || type == KZOO_I8; }
constexpr word_bits sign_bit(kzoo_type type) {
  return word_bits{1} << (8 * element_bytes(type) - 1);
}
// The bits of the largest magnitude of a floating-point type that is not NaN.
constexpr word_bits largest_magnitude(kzoo_type type) {
  switch (type) {
    case KZOO_F64: return 0x7ff0000000000000u;
    case KZOO_F16: return 0x7c00u;
    case KZOO_BF16: return 0x7f80u;
    case KZOO_E4M3: return 0x7eu;
    case KZOO_E5M2: return 0x7cu;
    default: return 0x7f800000u;
  }
}

// A signalling NaN with a random payload (integer types: random bits). A word that is never written
// keeps these bits; arithmetic turns them into a quiet NaN on every device. e4m3 has one NaN of
// either sign, e5m2 one signalling NaN.
constexpr word_bits poison_bits(kzoo_type type, std::uint64_t h) {
  const auto bits = static_cast<std::uint32_t>(h >> 32);
  switch (type) {
    case KZOO_F32: return 0x7f800001u | (bits & 0x803ffffeu);
    case KZOO_F64: return 0x7ff0000000000001u | (h & 0x8007fffffffffffeu);
    case KZOO_F16: return 0x7c01u | (bits & 0x81feu);
    case KZOO_BF16: return 0x7f81u | (bits & 0x803eu);
    case KZOO_E4M3: return 0x7fu | (bits & 0x80u);
    case KZOO_E5M2: return 0x7du | (bits & 0x80u);
    case KZOO_I8:
    case KZOO_I4: return bits & 0xffu;
    default: return bits;
  }
}

// A float, rounded to the element type, as bits of the type.
constexpr word_bits encode(kzoo_type type, float value) {
  switch (type) {
    case KZOO_F64: return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case KZOO_F16: return float_to_fp16_bits(value);
    case KZOO_BF16: return float_to_bf16_bits(value);
    case KZOO_E4M3: return float_to_e4m3_bits(value);
    case KZOO_E5M2: return float_to_e5m2_bits(value);
    case KZOO_I32: return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    case KZOO_I8: return static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
    default: return std::bit_cast<std::uint32_t>(value);
  }
}

constexpr double decode(kzoo_type type, word_bits bits) {
  switch (type) {
    case KZOO_F64: return std::bit_cast<double>(bits);
    case KZOO_F16: return fp16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_BF16: return bf16_bits_to_float(static_cast<std::uint16_t>(bits));
    case KZOO_E4M3: return e4m3_bits_to_float(static_cast<std::uint8_t>(bits));
    case KZOO_E5M2: return e5m2_bits_to_float(static_cast<std::uint8_t>(bits));
    case KZOO_I32: return static_cast<std::int32_t>(bits);
    case KZOO_I8:
    case KZOO_I4: return static_cast<std::int8_t>(bits);
    default: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

// Packs two int4 numbers, `first` in the low bits; unpacked() gets either.
constexpr word_bits packed(int first, int second) {
  return (static_cast<word_bits>(first) & 0xfu) | (static_cast<word_bits>(second) & 0xfu) << 4;
}
constexpr int unpacked(word_bits bits, std::int64_t which) {
  const auto four = static_cast<int>(bits >> (4 * which) & 0xfu);
  return four < 8 ? four : four - 16;
}

// The negated number. Zeros stay unsigned, NaNs stay unchanged.
constexpr word_bits opposite(kzoo_type type, word_bits bits) {
  if (type == KZOO_I4) return packed(-unpacked(bits, 0), -unpacked(bits, 1));
  const word_bits sign = sign_bit(type);
  if (is_integer_type(type)) return (0u - bits) & (2 * sign - 1);
  const word_bits magnitude = bits & (sign - 1);
  return magnitude == 0 || magnitude > largest_magnitude(type) ? bits : bits ^ sign;
}

// -0 becomes +0, in any type but integers.
constexpr word_bits unsigned_zero(kzoo_type type, word_bits bits) {
  return !is_integer_type(type) && bits == sign_bit(type) ? 0u : bits;
}

}  // namespace kzoo::data
