// __nv_fp8_e4m3 and __nv_fp8_e5m2 for the host compiler: storage formats without arithmetic, as in
// cuda_fp8.h. Conversions to them round to nearest even and saturate.
#pragma once

#include <kzoo/numeric.hpp>

#include <cstdint>
#include <type_traits>

namespace kzoo::sim {

template <std::uint8_t (*kFromFloat)(float), float (*kToFloat)(std::uint8_t)>
struct fp8 {
  std::uint8_t __x;

  fp8() = default;
  // Rounding to odd first avoids double rounding of a double or a large integer.
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr explicit fp8(T value) : __x(kFromFloat(round_to_odd(static_cast<double>(value)))) {}
  constexpr explicit operator float() const { return kToFloat(__x); }
};

}  // namespace kzoo::sim

using __nv_fp8_e4m3 = kzoo::sim::fp8<kzoo::float_to_e4m3_bits, kzoo::e4m3_bits_to_float>;
using __nv_fp8_e5m2 = kzoo::sim::fp8<kzoo::float_to_e5m2_bits, kzoo::e5m2_bits_to_float>;
