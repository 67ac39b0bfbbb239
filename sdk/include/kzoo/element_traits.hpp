#pragma once
// Element types in C++ and in the ABI.

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/gemm.hpp>
#include <kzoo/type_names.hpp>

namespace kzoo {

// The ABI's name of an element type, and the usual declared precision of its kernels: the
// accumulators' precision; fp16 and bf16 for fp32 sums of such elements.
template <class T>
struct element_traits;
template <kzoo_type kType>
struct element_traits_of {
  static constexpr kzoo_type type = kType, type_a = kType, type_b = kType;
  static constexpr kzoo_precision precision = usual_precision(kType);
};
template <>
struct element_traits<float> : element_traits_of<KZOO_F32> {};
template <>
struct element_traits<double> : element_traits_of<KZOO_F64> {};
template <>
struct element_traits<int> : element_traits_of<KZOO_I32> {};
template <>
struct element_traits<signed char> : element_traits_of<KZOO_I8> {};
template <>
struct element_traits<__half> : element_traits_of<KZOO_F16> {};
template <>
struct element_traits<__nv_bfloat16> : element_traits_of<KZOO_BF16> {};
template <>
struct element_traits<__nv_fp8_e4m3> : element_traits_of<KZOO_E4M3> {};
template <>
struct element_traits<__nv_fp8_e5m2> : element_traits_of<KZOO_E5M2> {};
// Uses the precision of A.
template <class A, class B, class C>
struct element_traits<mixed<A, B, C>> {
  static constexpr kzoo_type type = element_traits<C>::type, type_a = element_traits<A>::type,
                             type_b = element_traits<B>::type;
  static constexpr kzoo_precision precision = element_traits<A>::precision;
};

}  // namespace kzoo
