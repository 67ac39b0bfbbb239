// CUDA's functions on __half and __nv_bfloat16. Included by half.hpp, which defines the types.
#pragma once

#include <kzoo/sim/half.hpp>
#include <kzoo/sim/vector_types.hpp>

inline __half __float2half(float v) { return v; }
inline __half __float2half_rn(float v) { return v; }
inline __half __double2half(double v) { return v; }
inline float __half2float(__half v) { return v; }
inline __half __int2half_rn(int v) { return v; }
inline int __half2int_rn(__half v) { return static_cast<int>(std::nearbyint(float(v))); }
inline __half __ushort_as_half(unsigned short v) { return __half::from_bits(v); }
inline unsigned short __half_as_ushort(__half v) { return v.__x; }

inline __nv_bfloat16 __float2bfloat16(float v) { return v; }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return v; }
inline __nv_bfloat16 __double2bfloat16(double v) { return v; }
inline float __bfloat162float(__nv_bfloat16 v) { return v; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16::from_bits(v); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }

// Found by argument-dependent lookup.
namespace kzoo::sim {

template <class F>
inline small_float<F> __hadd(small_float<F> a, small_float<F> b) {
  return a + b;
}
template <class F>
inline small_float<F> __hsub(small_float<F> a, small_float<F> b) {
  return a - b;
}
template <class F>
inline small_float<F> __hmul(small_float<F> a, small_float<F> b) {
  return a * b;
}
template <class F>
inline small_float<F> __hdiv(small_float<F> a, small_float<F> b) {
  return a / b;
}
template <class F>
inline small_float<F> __hneg(small_float<F> a) {
  return -a;
}
template <class F>
inline small_float<F> __habs(small_float<F> a) {
  return small_float<F>::from_bits(static_cast<std::uint16_t>(a.__x & 0x7fffu));
}
template <class F>
inline small_float<F> __hfma(small_float<F> a, small_float<F> b, small_float<F> c) {
  return fused(a, b, c);
}
template <class F>
inline small_float<F> __hmin(small_float<F> a, small_float<F> b) {
  return std::fmin(float(a), float(b));
}
template <class F>
inline small_float<F> __hmax(small_float<F> a, small_float<F> b) {
  return std::fmax(float(a), float(b));
}
template <class F>
inline bool __heq(small_float<F> a, small_float<F> b) {
  return a == b;
}
template <class F>
inline bool __hne(small_float<F> a, small_float<F> b) {
  return a < b || a > b;
}  // false for NaN
template <class F>
inline bool __hlt(small_float<F> a, small_float<F> b) {
  return a < b;
}
template <class F>
inline bool __hle(small_float<F> a, small_float<F> b) {
  return a <= b;
}
template <class F>
inline bool __hgt(small_float<F> a, small_float<F> b) {
  return a > b;
}
template <class F>
inline bool __hge(small_float<F> a, small_float<F> b) {
  return a >= b;
}
template <class F>
inline bool __hisnan(small_float<F> a) {
  return std::isnan(float(a));
}
template <class F>
inline small_float<F> hsqrt(small_float<F> a) {
  return std::sqrt(float(a));
}
template <class F>
inline small_float<F> hexp(small_float<F> a) {
  return std::exp(float(a));
}

template <class F>
inline small_float2<F> __hadd2(small_float2<F> a, small_float2<F> b) {
  return a + b;
}
template <class F>
inline small_float2<F> __hsub2(small_float2<F> a, small_float2<F> b) {
  return a - b;
}
template <class F>
inline small_float2<F> __hmul2(small_float2<F> a, small_float2<F> b) {
  return a * b;
}
template <class F>
inline small_float2<F> __hfma2(small_float2<F> a, small_float2<F> b, small_float2<F> c) {
  return {fused(a.x, b.x, c.x), fused(a.y, b.y, c.y)};
}
template <class F>
inline small_float<F> __low2half(small_float2<F> v) {
  return v.x;
}
template <class F>
inline small_float<F> __high2half(small_float2<F> v) {
  return v.y;
}
template <class F>
inline float __low2float(small_float2<F> v) {
  return v.x;
}
template <class F>
inline float __high2float(small_float2<F> v) {
  return v.y;
}
template <class F>
inline small_float2<F> __halves2half2(small_float<F> a, small_float<F> b) {
  return {a, b};
}
template <class F>
inline small_float2<F> __half2half2(small_float<F> a) {
  return {a, a};
}

}  // namespace kzoo::sim

inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __float2half2_rn(float v) { return {v, v}; }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __float2bfloat162_rn(float v) { return {v, v}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
