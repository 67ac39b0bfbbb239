// fp16, bf16 and tf32: the conversions, and __half and __nv_bfloat16 on the simulator.
#include <cmath>
#include <cstdint>
#include <limits>

#include <kzoo/cuda.hpp>
#include <kzoo/numeric.hpp>

#include "support/catch.hpp"

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float value_of(unsigned fp16_bits) {  // by the definition of the format
  const int exponent = static_cast<int>(fp16_bits >> 10 & 31);
  const auto fraction = static_cast<double>(fp16_bits & 1023u);
  const double sign = (fp16_bits & 0x8000u) != 0 ? -1.0 : 1.0;
  if (exponent == 0) return static_cast<float>(sign * std::ldexp(fraction, -24));
  return static_cast<float>(sign * std::ldexp(1024.0 + fraction, exponent - 25));
}

static_assert(kzoo::float_to_fp16_bits(1.0f) == 0x3c00);
static_assert(kzoo::fp16_bits_to_float(0x3c01) == 1.0f + 0x1p-10f);
static_assert(kzoo::float_to_bf16_bits(1.0f) == 0x3f80);
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4);

}  // namespace

TEST_CASE("all fp16 patterns: value and round trip", "[numeric]") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = kzoo::fp16_bits_to_float(pattern);
    if ((bits & 0x7c00u) == 0x7c00u) {
      const bool nan = (bits & 0x3ffu) != 0;
      wrong += std::isnan(value) != nan;
      if (nan)
        wrong += kzoo::float_to_fp16_bits(value) != 0x7fff;
      else
        wrong += kzoo::float_to_fp16_bits(value) != pattern || !std::isinf(value);
      continue;
    }
    wrong += value != value_of(bits);
    wrong += kzoo::float_to_fp16_bits(value) != pattern;
    wrong += kzoo::double_to_fp16_bits(value) != pattern;
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two fp16 values: ties to even, else to the nearer", "[numeric]") {
  int wrong = 0;
  for (unsigned low = 0; low < 0x7bffu; ++low) {
    const unsigned high = low + 1;
    const float middle = (value_of(low) + value_of(high)) / 2;  // exact in float
    const unsigned even = low % 2 == 0 ? low : high;
    wrong += kzoo::float_to_fp16_bits(middle) != even;
    wrong += kzoo::float_to_fp16_bits(-middle) != (even | 0x8000u);
    wrong += kzoo::float_to_fp16_bits(std::nextafter(middle, 0.0f)) != low;
    wrong += kzoo::float_to_fp16_bits(std::nextafter(middle, kInf)) != high;
    // A double this close to the tie would round to it in float first.
    const double above = std::nextafter(static_cast<double>(middle), 1e9);
    const double below = std::nextafter(static_cast<double>(middle), 0.0);
    wrong += kzoo::double_to_fp16_bits(above) != high;
    wrong += kzoo::double_to_fp16_bits(below) != low;
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp16 overflow, underflow and NaN", "[numeric]") {
  CHECK(kzoo::float_to_fp16_bits(65519.996f) == 0x7bff);
  CHECK(kzoo::float_to_fp16_bits(65520.0f) == 0x7c00);
  CHECK(kzoo::float_to_fp16_bits(-1e30f) == 0xfc00);
  CHECK(kzoo::float_to_fp16_bits(kInf) == 0x7c00);
  CHECK(kzoo::float_to_fp16_bits(kNan) == 0x7fff);
  CHECK(kzoo::float_to_fp16_bits(0x1p-25f) == 0);  // a tie with 0, which is even
  CHECK(kzoo::float_to_fp16_bits(0x1.000002p-25f) == 1);
  CHECK(kzoo::float_to_fp16_bits(-0.0f) == 0x8000);
  CHECK(kzoo::double_to_fp16_bits(1e300) == 0x7c00);
}

TEST_CASE("bf16 rounds ties to even", "[numeric]") {
  int wrong = 0;
  for (std::uint32_t low = 0; low < 0x7f7fu; ++low) {
    const auto middle = std::bit_cast<float>(low << 16 | 0x8000u);
    wrong +=
        kzoo::float_to_bf16_bits(kzoo::bf16_bits_to_float(static_cast<std::uint16_t>(low))) != low;
    wrong += kzoo::float_to_bf16_bits(middle) != (low % 2 == 0 ? low : low + 1);
    wrong += kzoo::float_to_bf16_bits(std::nextafter(middle, 0.0f)) != low;
    wrong += kzoo::float_to_bf16_bits(std::nextafter(middle, kInf)) != low + 1;
    wrong +=
        kzoo::double_to_bf16_bits(std::nextafter(static_cast<double>(middle), 1e300)) != low + 1;
  }
  CHECK(wrong == 0);
  CHECK(kzoo::float_to_bf16_bits(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(kzoo::float_to_bf16_bits(-kInf) == 0xff80);
  CHECK(kzoo::float_to_bf16_bits(kNan) == 0x7fff);
  CHECK(std::isnan(kzoo::bf16_bits_to_float(0x7f81)));
}

TEST_CASE("tf32 keeps ten bits of fraction", "[numeric]") {
  CHECK(kzoo::round_to_tf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
  CHECK(kzoo::round_to_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f);  // ties away from zero
  CHECK(kzoo::round_to_tf32(-1.0f - 0x1p-11f) == -1.0f - 0x1p-10f);
  CHECK(kzoo::round_to_tf32(1.0f + 0x1.fp-12f) == 1.0f);
  CHECK(kzoo::truncate_to_tf32(1.0f + 0x1.fp-11f) == 1.0f);
  CHECK(kzoo::round_to_tf32(kInf) == kInf);
  CHECK(std::isnan(kzoo::round_to_tf32(kNan)));
  CHECK(std::isnan(kzoo::truncate_to_tf32(kNan)));
  CHECK(kzoo::round_to_tf32(std::numeric_limits<float>::max()) == kInf);
}

TEST_CASE("__half computes and compares", "[sim]") {
  const __half one = __float2half(1.0f);
  const __half tiny = __float2half_rn(0x1p-11f);
  CHECK(__half2float(one + tiny) == 1.0f);  // half of the last place: a tie, to even
  CHECK(__half2float(__hadd(one, tiny * __half(1.5f))) == 1.0f + 0x1p-10f);
  CHECK(float(__hmul(__half(3), __half(0.5))) == 1.5f);
  CHECK(float(__half(1) / __half(3)) == kzoo::fp16_bits_to_float(0x3555));
  CHECK(float(-one) == -1.0f);
  CHECK(one > tiny);
  CHECK_FALSE(one < tiny);
  CHECK(one == __half(1.0));
  CHECK(one != tiny);
  CHECK_FALSE(__half(kNan) == __half(kNan));
  CHECK_FALSE(__hne(__half(kNan), one));
  CHECK(__hisnan(__half(kNan)));
  CHECK(float(__hmax(one, tiny)) == 1.0f);
  CHECK(float(__hmin(one, __half(kNan))) == 1.0f);
  __half sum = 0;
  for (int i = 0; i < 4096; ++i) sum += one;
  CHECK(float(sum) == 2048.0f);  // where adding one stops having an effect
  CHECK(__half_as_ushort(__ushort_as_half(0x1234)) == 0x1234);
  const half2 pair = __hfma2(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4), __float2half2_rn(1));
  CHECK(__low2float(pair) == 4.0f);
  CHECK(__high2float(pair) == 9.0f);
}

TEST_CASE("__hfma rounds once", "[sim]") {
  const __half a = __float2half(1.0f + 0x1p-6f);
  CHECK(float(__hfma(a, a, __half(-1.0f))) == 0x1p-5f + 0x1p-12f);
  CHECK(float(a * a - __half(1.0f)) == 0x1p-5f);
  CHECK(float(__hfma(__half(0x1p-12f), __half(2.0f + 0x1p-9f), __half(1.0f))) == 1.0f + 0x1p-10f);
  CHECK(float(__hfma(__half(0x1p-12f), __half(2.0f), __half(1.0f))) == 1.0f);
  // 1.5 * 129/128 lies between two bf16 values; an addend far below double's last place decides.
  const __nv_bfloat16 x = __float2bfloat16(1.5f);
  const __nv_bfloat16 y = __float2bfloat16(129.0f / 128.0f);
  CHECK(float(__hfma(x, y, __nv_bfloat16(0))) == 388.0f / 256.0f);
  CHECK(float(__hfma(x, y, __nv_bfloat16(0x1p-100f))) == 388.0f / 256.0f);
  CHECK(float(__hfma(x, y, __nv_bfloat16(-0x1p-100f))) == 386.0f / 256.0f);
}

TEST_CASE("__nv_bfloat16 computes", "[sim]") {
  const __nv_bfloat16 one = __float2bfloat16(1.0f);
  CHECK(__bfloat162float(one + __float2bfloat16(0x1p-8f)) == 1.0f);
  CHECK(__bfloat162float(one + __float2bfloat16(0x1.8p-8f)) == 1.0f + 0x1p-7f);
  CHECK(float(__hmul(__nv_bfloat16(3), __nv_bfloat16(0x1p100f))) == 3 * 0x1p100f);
  CHECK(float(__nv_bfloat16(0x1p-70f) * __nv_bfloat16(0x1.8p-63f)) ==
        0x1p-132f);  // a subnormal tie
  CHECK(__bfloat162float(__habs(__float2bfloat16(-2.0f))) == 2.0f);
}
