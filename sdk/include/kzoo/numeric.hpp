// Narrow floating-point formats as bits. Pure constexpr functions, equal for every compiler and
// device, for the simulator's __half and the runner's reference.
//
//   format  sign  exponent  fraction   smallest normal   largest
//   fp16      1       5        10           2^-14         65504
//   bf16      1       8         7           2^-126        3.39e38
//   tf32      1       8        10           2^-126        3.40e38   (stored in 32 bits)
//   fp32      1       8        23
//   e5m2      1       5         2           2^-14         57344
//   e4m3      1       4         3           2^-6          448      (no infinity, +-NaN)
//
// Rounds to nearest, ties to even, keeps subnormals, and overflows to infinity, unless a name says
// otherwise. fp8 saturates to its largest value instead. NaN becomes the canonical 0x7fff, or 0x7f
// in fp8, as in CUDA's conversions.
#pragma once

#include <bit>
#include <cstdint>

namespace kzoo {

constexpr std::uint16_t float_to_fp16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {                                                    // < 2^-14
    // The last place of 0.5f is 2^-24, the smallest subnormal: one float addition rounds there.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t to_even = 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | (((magnitude + to_even) >> 13) - (112u << 10)));
}

constexpr float fp16_bits_to_float(std::uint16_t half_bits) {
  const std::uint32_t sign = (half_bits & 0x8000u) << 16;
  const std::uint32_t magnitude = half_bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  }
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float tiny = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(tiny));
}

constexpr std::uint16_t float_to_bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float bf16_bits_to_float(std::uint16_t bf16_bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bf16_bits) << 16);
}

// Converts to fp8 with kFraction fraction bits; kLargest: bits of the largest value.
template <int kFraction, int kBias, std::uint8_t kLargest>
constexpr std::uint8_t float_to_fp8_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 24) & 0x80u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  constexpr int kDropped = 23 - kFraction;
  constexpr std::uint32_t kSmallestNormal = std::uint32_t(128 - kBias) << 23;
  std::uint32_t rounded = 0;
  if (magnitude < kSmallestNormal) {
    // The last place of this float is the smallest subnormal: one addition rounds there.
    constexpr std::uint32_t kShift = std::uint32_t(151 - kBias - kFraction) << 23;
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShift);
    rounded = std::bit_cast<std::uint32_t>(shifted) - kShift;
  } else {
    const std::uint32_t to_even = (1u << (kDropped - 1)) - 1 + ((magnitude >> kDropped) & 1u);
    rounded = ((magnitude + to_even) >> kDropped) - (std::uint32_t(127 - kBias) << kFraction);
  }
  return static_cast<std::uint8_t>(sign | (rounded < kLargest ? rounded : kLargest));
}
constexpr std::uint8_t float_to_e4m3_bits(float value) {
  return float_to_fp8_bits<3, 7, 0x7e>(value);
}
constexpr std::uint8_t float_to_e5m2_bits(float value) {
  return float_to_fp8_bits<2, 15, 0x7b>(value);
}

constexpr float e4m3_bits_to_float(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80u) << 24, magnitude = bits & 0x7fu;
  if (magnitude == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  // 1.fff times 2^(exponent - 7), as the bits of a float that is 2^120 times smaller.
  const float value = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}
constexpr float e5m2_bits_to_float(std::uint8_t bits) {
  return fp16_bits_to_float(static_cast<std::uint16_t>(bits << 8));
}

// The nearest tf32 value, ties away from zero, as in cvt.rna.tf32.f32 and wmma::__float_to_tf32.
constexpr float round_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

// A tensor core's view of an unrounded fp32 register: the low 13 bits are dropped.
constexpr float truncate_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>(bits & 0xffffe000u);
}

// double -> float, rounded to odd: an inexact result has its last bit set. Rounding it again, to a
// format at least two bits narrower, gives the same result as rounding the double directly.
constexpr float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const auto back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  if ((bits & 1u) != 0) return nearest;
  const bool grew = (back > value) == (value > 0.0);  // nearest is further from zero than value
  return std::bit_cast<float>(grew ? bits - 1u : bits + 1u);
}

constexpr std::uint16_t double_to_fp16_bits(double value) {
  return float_to_fp16_bits(round_to_odd(value));
}

constexpr std::uint16_t double_to_bf16_bits(double value) {
  return float_to_bf16_bits(round_to_odd(value));
}

}  // namespace kzoo
