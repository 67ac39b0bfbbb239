#include <cmath>
#include <type_traits>

#include <kzoo/cuda.hpp>

#include "support/catch.hpp"

namespace {

template <class T, std::size_t kSize, std::size_t kAlign>
constexpr bool laid_out = sizeof(T) == kSize && alignof(T) == kAlign;

static_assert(laid_out<char2, 2, 2> && laid_out<uchar3, 3, 1> && laid_out<char4, 4, 4>);
static_assert(laid_out<short2, 4, 4> && laid_out<ushort4, 8, 8> && laid_out<short3, 6, 2>);
static_assert(laid_out<int2, 8, 8> && laid_out<uint3, 12, 4> && laid_out<int4, 16, 16>);
static_assert(laid_out<float1, 4, 4> && laid_out<float2, 8, 8> && laid_out<float3, 12, 4>);
static_assert(laid_out<float4, 16, 16>);
static_assert(laid_out<double2, 16, 16> && laid_out<double4, 32, 16> &&
              laid_out<longlong2, 16, 16>);
static_assert(std::is_trivially_default_constructible_v<float4>);

}  // namespace

TEST_CASE("vector types", "[sim]") {
  const float4 v = make_float4(1, 2, 3, 4);
  CHECK(v.x + v.y * 10 + v.z * 100 + v.w * 1000 == 4321);
  alignas(16) float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(reinterpret_cast<const float4*>(values)[1].z == 6);
  const dim3 d(7);
  CHECK(d.x == 7);
  CHECK(d.y == 1);
  CHECK(d.z == 1);
  const uint3 u = dim3(1, 2, 3);
  CHECK(u.z == 3);
}

TEST_CASE("bit functions", "[sim]") {
  CHECK(__popc(0xf0f00001u) == 9);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x2064u) == 0x22006644u);
  CHECK(__popcll(~0ull) == 64);
  CHECK(__clz(0) == 32);
  CHECK(__clz(1) == 31);
  CHECK(__clz(-1) == 0);
  CHECK(__clzll(1) == 63);
  CHECK(__ffs(0) == 0);
  CHECK(__ffs(8) == 4);
  CHECK(__ffsll(1LL << 40) == 41);
  CHECK(__brev(1u) == 0x80000000u);
  CHECK(__brev(0x12345678u) == 0x1e6a2c48u);
  CHECK(__brevll(2ull) == 1ull << 62);
  CHECK(__float_as_int(-1.0f) == static_cast<int>(0xbf800000u));
  CHECK(__uint_as_float(__float_as_uint(2.5f)) == 2.5f);
  CHECK(__int_as_float(0x3f800000) == 1.0f);
  CHECK(__longlong_as_double(__double_as_longlong(0.1)) == 0.1);
}

TEST_CASE("integer functions", "[sim]") {
  CHECK(__mul24(-3, 5) == -15);
  CHECK(__mul24(0x01000002, 3) == 6);
  CHECK(__umul24(0xff000002u, 3u) == 6u);
  CHECK(__mulhi(1 << 30, -8) == -2);
  CHECK(__umulhi(0x80000000u, 6u) == 3u);
  CHECK(__dp4a(0x01ff0302, 0x01010204, 10) == 10 + 1 - 1 + 6 + 8);
}

TEST_CASE("min and max have CUDA's overloads", "[sim]") {
  CHECK(min(-1, 2) == -1);
  CHECK(max(-1, 2u) == 0xffffffffu);  // the int becomes unsigned
  CHECK(max(1.0f, 2.0) == 2.0);
  CHECK(min(NAN, 3.0f) == 3.0f);
  CHECK(max(3LL, 4LL) == 4);
  static_assert(std::is_same_v<decltype(min(1.0f, 2.0f)), float>);
  static_assert(std::is_same_v<decltype(min(1.0f, 2.0)), double>);
}

TEST_CASE("floating point functions", "[sim]") {
  const float a = 1.0f + 0x1p-12f;
  CHECK(__fmaf_rn(a, a, -1.0f) == 0x1p-11f + 0x1p-24f);
  CHECK(rsqrtf(4.0f) == 0.5f);
  CHECK(__expf(0.0f) == 1.0f);
  CHECK(__logf(1.0f) == 0.0f);
  CHECK(__powf(2.0f, 3.0f) == 8.0f);
  CHECK(__fdividef(1.0f, 4.0f) == 0.25f);
  CHECK(__saturatef(2.0f) == 1.0f);
  CHECK(__saturatef(NAN) == 0.0f);
  CHECK(isnan(NAN));
  CHECK(isinf(-INFINITY));
  CHECK_FALSE(isfinite(INFINITY));
  CHECK(signbit(-0.0f));
  const float one = 3.0f;
  CHECK(__ldg(&one) == 3.0f);
  const long long before = clock64();
  CHECK(clock64() >= before);
}
