#pragma once
// A warp's tensor core instructions on registers (sm_80; stmatrix sm_90): mma.sync, and loads and
// stores of its operands. Unlike for WMMA fragments, each lane's elements are known. Device code.
// In the simulator the last of the 32 lanes to arrive does the work. Source: PTX ISA, "Matrix
// Fragments for mma.m16n8k16 with floating point type", "Matrix Fragments for mma.m16n8k32",
// "ldmatrix".
//
// A 32-bit register holds s neighbours along K: 2 of a 16-bit type, 4 of signed char, 1 float. With
// g = lane / 4 and t = lane % 4:
//
//   A, 16 x 8 s    a[i]: row g + 8 (i % 2), k from s t + 4 s (i / 2) on
//   B, 8 s x 8     b[i]: column g, k from s t + 4 s i on
//   C, 16 x 8      c[i]: row g + 8 (i / 2), column 2 t + i % 2

#include <kzoo/cuda.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/mma.hpp>
#elif defined(__CUDACC__)  // device code: not in a host file for cuda

#include <type_traits>

namespace kzoo {

// Loads four 8 x 16-byte matrices from shared memory. `row` of lanes 8 i to 8 i + 7 points to the
// rows of matrix i. Then r[i] holds 4 bytes of matrix i: row lane / 4, from byte 4 (lane % 4) on.
__device__ __forceinline__ void ldmatrix(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

// Like ldmatrix, for 16-bit elements, with each matrix transposed: r[i] holds the elements of rows
// 2 (lane % 4) and 2 (lane % 4) + 1 in column lane / 4.
__device__ __forceinline__ void ldmatrix_transposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

// The reverse of ldmatrix: registers into the rows of four matrices.
__device__ __forceinline__ void stmatrix(void* row, const unsigned (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(row))),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

// c += A B with T of __half or __nv_bfloat16 (16 x 8 x 16), or float (16 x 8 x 8), whose low 13
// bits are ignored: TF32.
template <class T>
__device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#define KZOO_MMA(SHAPE, TYPE)                                                         \
  asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (std::is_same_v<T, __half>) {
    KZOO_MMA("m16n8k16", "f16");
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    KZOO_MMA("m16n8k16", "bf16");
  } else {
    static_assert(std::is_same_v<T, float>, "mma.sync takes __half, __nv_bfloat16 or float here");
    KZOO_MMA("m16n8k8", "tf32");
  }
#undef KZOO_MMA
}

// c += A B with signed char (16 x 8 x 32) and 32-bit sums, which wrap around.
template <class T>
__device__ __forceinline__ void mma(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  static_assert(std::is_same_v<T, signed char>, "integer sums are those of signed char here");
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
      " {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace kzoo

#endif
