#pragma once
// wgmma with its first operand in registers. Device code, sm_90a.
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".

#include <kzoo/wgmma.hpp>

#include <type_traits>

namespace w4a16 {

#if defined(__CUDACC__)
#define W4A16_ACC8(I)                                                                         \
  "+f"(acc[8 * (I)]), "+f"(acc[8 * (I) + 1]), "+f"(acc[8 * (I) + 2]), "+f"(acc[8 * (I) + 3]), \
      "+f"(acc[8 * (I) + 4]), "+f"(acc[8 * (I) + 5]), "+f"(acc[8 * (I) + 6]),                 \
      "+f"(acc[8 * (I) + 7])
#define W4A16_WGMMA(N, TYPES, REGISTERS, A0, A1, A2, A3, B, ADD, ...)                            \
  asm volatile(                                                                                  \
      "{\n"                                                                                      \
      ".reg .pred add;\n"                                                                        \
      "setp.ne.b32 add, %" ADD                                                                   \
      ", 0;\n"                                                                                   \
      "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPES "." TYPES " {" REGISTERS "}, {%" A0 \
      ", %" A1 ", %" A2 ", %" A3 "}, %" B                                                        \
      ", add, 1, 1, 0;\n"                                                                        \
      "}"                                                                                        \
      : __VA_ARGS__                                                                              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(int(accumulate)))
#define W4A16_REGISTERS_32                                                                    \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19," \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define W4A16_REGISTERS_64                                                                 \
  W4A16_REGISTERS_32                                                                       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48," \
  "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define W4A16_WGMMA_64(TYPES)                                                                     \
  W4A16_WGMMA("64", TYPES, W4A16_REGISTERS_32, "32", "33", "34", "35", "36", "37", W4A16_ACC8(0), \
              W4A16_ACC8(1), W4A16_ACC8(2), W4A16_ACC8(3))
#define W4A16_WGMMA_128(TYPES)                                                                     \
  W4A16_WGMMA("128", TYPES, W4A16_REGISTERS_64, "64", "65", "66", "67", "68", "69", W4A16_ACC8(0), \
              W4A16_ACC8(1), W4A16_ACC8(2), W4A16_ACC8(3), W4A16_ACC8(4), W4A16_ACC8(5),           \
              W4A16_ACC8(6), W4A16_ACC8(7))
#endif

// Starts acc = A B, plus acc where `accumulate`: A is 64 x 16, its registers those of mma.sync with
// 16 rows for each of the four warps; B is 16 x N in shared memory, with K along its rows there.
// The registers of A must not change until the product is done.
template <int N, class T>
__device__ __forceinline__ void wgmma_from_registers(float (&acc)[N / 2], const unsigned (&a)[4],
                                                     kzoo::wgmma_operand<T, kzoo::major::k> b,
                                                     bool accumulate KZOO_AND_HERE) {
  static_assert(N == 64 || N == 128);
  constexpr bool kHalf = std::is_same_v<T, __half>;
  static_assert(kHalf || std::is_same_v<T, __nv_bfloat16>);
#if defined(__CUDACC__)
  if constexpr (N == 64 && kHalf) {
    W4A16_WGMMA_64("f16");
  } else if constexpr (N == 64) {
    W4A16_WGMMA_64("bf16");
  } else if constexpr (kHalf) {
    W4A16_WGMMA_128("f16");
  } else {
    W4A16_WGMMA_128("bf16");
  }
#else
  constexpr auto kType = kzoo::detail::operand_type_of<T>();
  kzoo::sim::sm90::wgmma({N, kType, kType, false, false, accumulate, 0, b.bits, a, acc}, where);
#endif
}

// The registers of A are in use up to here.
__device__ __forceinline__ void keep_registers(const unsigned (&a)[4]) {
#if defined(__CUDACC__)
  asm volatile("" ::"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]) : "memory");
#else
  static_cast<void>(a);
#endif
}

#if defined(__CUDACC__)
#undef W4A16_WGMMA_128
#undef W4A16_WGMMA_64
#undef W4A16_REGISTERS_64
#undef W4A16_REGISTERS_32
#undef W4A16_WGMMA
#undef W4A16_ACC8
#endif

}  // namespace w4a16
