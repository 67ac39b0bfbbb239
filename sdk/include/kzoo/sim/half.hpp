// __half, __nv_bfloat16 and their pairs for the host compiler. Every operation rounds the exact
// result once, to nearest even, as the hardware does.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <kzoo/numeric.hpp>

namespace kzoo::sim {

struct fp16_format {
  static constexpr std::uint16_t from_float(float v) { return float_to_fp16_bits(v); }
  static constexpr std::uint16_t from_double(double v) { return double_to_fp16_bits(v); }
  static constexpr float to_float(std::uint16_t bits) { return fp16_bits_to_float(bits); }
};

struct bf16_format {
  static constexpr std::uint16_t from_float(float v) { return float_to_bf16_bits(v); }
  static constexpr std::uint16_t from_double(double v) { return double_to_bf16_bits(v); }
  static constexpr float to_float(std::uint16_t bits) { return bf16_bits_to_float(bits); }
};

// Trivial default constructor, so that arrays of it may be __shared__.
template <class Format>
struct __attribute__((may_alias)) small_float {
  std::uint16_t __x;

  small_float() = default;
  constexpr small_float(float v) : __x(Format::from_float(v)) {}
  constexpr small_float(double v) : __x(Format::from_double(v)) {}
  template <class I>
  requires std::is_integral_v<I>
  constexpr small_float(I v) : __x(Format::from_double(static_cast<double>(v))) {}

  static constexpr small_float from_bits(std::uint16_t bits) {
    small_float result{0.0f};
    result.__x = bits;
    return result;
  }

  constexpr operator float() const { return Format::to_float(__x); }

  // Results are formed in double: exact, or too fine for a second rounding to show.
  friend constexpr small_float operator+(small_float a, small_float b) { return wide(a) + wide(b); }
  friend constexpr small_float operator-(small_float a, small_float b) { return wide(a) - wide(b); }
  friend constexpr small_float operator*(small_float a, small_float b) { return wide(a) * wide(b); }
  friend constexpr small_float operator/(small_float a, small_float b) { return wide(a) / wide(b); }
  friend constexpr small_float operator+(small_float a) { return a; }
  friend constexpr small_float operator-(small_float a) {
    return from_bits(static_cast<std::uint16_t>(a.__x ^ 0x8000u));
  }
  constexpr small_float& operator+=(small_float b) { return *this = *this + b; }
  constexpr small_float& operator-=(small_float b) { return *this = *this - b; }
  constexpr small_float& operator*=(small_float b) { return *this = *this * b; }
  constexpr small_float& operator/=(small_float b) { return *this = *this / b; }

  friend constexpr bool operator==(small_float a, small_float b) { return float(a) == float(b); }
  friend constexpr bool operator!=(small_float a, small_float b) { return float(a) != float(b); }
  friend constexpr bool operator<(small_float a, small_float b) { return float(a) < float(b); }
  friend constexpr bool operator<=(small_float a, small_float b) { return float(a) <= float(b); }
  friend constexpr bool operator>(small_float a, small_float b) { return float(a) > float(b); }
  friend constexpr bool operator>=(small_float a, small_float b) { return float(a) >= float(b); }

 private:
  static constexpr double wide(small_float v) { return static_cast<double>(float(v)); }
};

template <class Format>
struct alignas(4) small_float2 {
  small_float<Format> x, y;

  small_float2() = default;
  constexpr small_float2(small_float<Format> a, small_float<Format> b) : x(a), y(b) {}

  friend constexpr small_float2 operator+(small_float2 a, small_float2 b) {
    return {a.x + b.x, a.y + b.y};
  }
  friend constexpr small_float2 operator-(small_float2 a, small_float2 b) {
    return {a.x - b.x, a.y - b.y};
  }
  friend constexpr small_float2 operator*(small_float2 a, small_float2 b) {
    return {a.x * b.x, a.y * b.y};
  }
};

// a * b + c rounded once. The product is exact in double. The sum is rounded to odd, so that
// rounding to 16 bits still sees the side of a tie.
template <class Format>
inline small_float<Format> fused(small_float<Format> a, small_float<Format> b,
                                 small_float<Format> c) {
  const double product = static_cast<double>(float(a)) * static_cast<double>(float(b));
  const double addend = static_cast<double>(float(c));
  const double sum = product + addend;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;  // two-sum: error is what `sum` lost, exactly
  const double error = (product - (sum - part)) + (addend - part);
  if (error == 0.0 || (std::bit_cast<std::uint64_t>(sum) & 1u) != 0) return sum;
  const double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(sum, error > 0.0 ? infinity : -infinity);
}

}  // namespace kzoo::sim

using __half = kzoo::sim::small_float<kzoo::sim::fp16_format>;
using __half2 = kzoo::sim::small_float2<kzoo::sim::fp16_format>;
using __nv_bfloat16 = kzoo::sim::small_float<kzoo::sim::bf16_format>;
using __nv_bfloat162 = kzoo::sim::small_float2<kzoo::sim::bf16_format>;
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#include <kzoo/sim/half_functions.hpp>  // the __h... functions
