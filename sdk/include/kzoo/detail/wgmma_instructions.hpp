// The instructions behind kzoo::wgmma, one for each N and type. Included by wgmma.hpp.
#pragma once

#include <kzoo/wgmma.hpp>

namespace kzoo {

#if defined(__CUDACC__)

// "%T0, %T1, ... %T9, " and the accumulators 10 i to 10 i + 9, or 8 i to 8 i + 7.
#define KZOO_TEN(T)                                                                                \
  "%" #T "0, %" #T "1, %" #T "2, %" #T "3, %" #T "4, %" #T "5, %" #T "6, %" #T "7, %" #T "8, %" #T \
  "9, "
#define KZOO_ACC8(I)                                                                          \
  "+f"(acc[8 * (I)]), "+f"(acc[8 * (I) + 1]), "+f"(acc[8 * (I) + 2]), "+f"(acc[8 * (I) + 3]), \
      "+f"(acc[8 * (I) + 4]), "+f"(acc[8 * (I) + 5]), "+f"(acc[8 * (I) + 6]),                 \
      "+f"(acc[8 * (I) + 7])
#define KZOO_ACC32(I) \
  KZOO_ACC8(4 * (I)), KZOO_ACC8(4 * (I) + 1), KZOO_ACC8(4 * (I) + 2), KZOO_ACC8(4 * (I) + 3)
// clang-format off
#define KZOO_REGISTERS_64 KZOO_TEN() KZOO_TEN(1) KZOO_TEN(2) "%30, %31"
#define KZOO_REGISTERS_128                                              \
  KZOO_TEN() KZOO_TEN(1) KZOO_TEN(2) KZOO_TEN(3) KZOO_TEN(4) KZOO_TEN(5) \
  "%60, %61, %62, %63"
#define KZOO_REGISTERS_192                                                \
  KZOO_TEN() KZOO_TEN(1) KZOO_TEN(2) KZOO_TEN(3) KZOO_TEN(4) KZOO_TEN(5)  \
  KZOO_TEN(6) KZOO_TEN(7) KZOO_TEN(8) "%90, %91, %92, %93, %94, %95"
#define KZOO_REGISTERS_256                                                \
  KZOO_TEN() KZOO_TEN(1) KZOO_TEN(2) KZOO_TEN(3) KZOO_TEN(4) KZOO_TEN(5)  \
  KZOO_TEN(6) KZOO_TEN(7) KZOO_TEN(8) KZOO_TEN(9) KZOO_TEN(10) KZOO_TEN(11) \
  "%120, %121, %122, %123, %124, %125, %126, %127"
// clang-format on

// The operands that follow the registers: A, B, whether to add, and the two transpositions.
#define KZOO_WGMMA(N, TYPE, REGISTERS, A, B, ADD, TA, TB, ...)                                \
  asm volatile(                                                                               \
      "{\n"                                                                                   \
      ".reg .pred add;\n"                                                                     \
      "setp.ne.b32 add, %" ADD                                                                \
      ", 0;\n"                                                                                \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE " {" REGISTERS "}, %" A \
      ", %" B ", add, 1, 1, %" TA ", %" TB                                                    \
      ";\n"                                                                                   \
      "}"                                                                                     \
      : __VA_ARGS__                                                                           \
      : "l"(a.bits), "l"(b.bits), "r"(int(accumulate)), "n"(unsigned(kA)), "n"(unsigned(kB)))
#define KZOO_WGMMA_64(TYPE) \
  KZOO_WGMMA(64, TYPE, KZOO_REGISTERS_64, "32", "33", "34", "35", "36", KZOO_ACC32(0))
#define KZOO_WGMMA_128(TYPE)                                                             \
  KZOO_WGMMA(128, TYPE, KZOO_REGISTERS_128, "64", "65", "66", "67", "68", KZOO_ACC32(0), \
             KZOO_ACC32(1))
#define KZOO_WGMMA_192(TYPE)                                                              \
  KZOO_WGMMA(192, TYPE, KZOO_REGISTERS_192, "96", "97", "98", "99", "100", KZOO_ACC32(0), \
             KZOO_ACC32(1), KZOO_ACC32(2))
#define KZOO_WGMMA_256(TYPE)                                                                  \
  KZOO_WGMMA(256, TYPE, KZOO_REGISTERS_256, "128", "129", "130", "131", "132", KZOO_ACC32(0), \
             KZOO_ACC32(1), KZOO_ACC32(2), KZOO_ACC32(3))

template <int N, class T, major kA, major kB>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], wgmma_operand<T, kA> a,
                                      wgmma_operand<T, kB> b, bool accumulate) {
  static_assert(N == 64 || N == 128 || N == 192 || N == 256,
                "wgmma.hpp has N = 64, 128, 192 and 256");
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>,
                "wgmma.hpp has __half and __nv_bfloat16");
  if constexpr (std::is_same_v<T, __half>) {
    if constexpr (N == 64) KZOO_WGMMA_64("f16");
    if constexpr (N == 128) KZOO_WGMMA_128("f16");
    if constexpr (N == 192) KZOO_WGMMA_192("f16");
    if constexpr (N == 256) KZOO_WGMMA_256("f16");
  } else {
    if constexpr (N == 64) KZOO_WGMMA_64("bf16");
    if constexpr (N == 128) KZOO_WGMMA_128("bf16");
    if constexpr (N == 192) KZOO_WGMMA_192("bf16");
    if constexpr (N == 256) KZOO_WGMMA_256("bf16");
  }
}

#undef KZOO_WGMMA_256
#undef KZOO_WGMMA_192
#undef KZOO_WGMMA_128
#undef KZOO_WGMMA_64
#undef KZOO_WGMMA
#undef KZOO_REGISTERS_256
#undef KZOO_REGISTERS_192
#undef KZOO_REGISTERS_128
#undef KZOO_REGISTERS_64
#undef KZOO_ACC32
#undef KZOO_ACC8
#undef KZOO_TEN

#else

template <int N, class T, major kA, major kB>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], wgmma_operand<T, kA> a,
                                      wgmma_operand<T, kB> b, bool accumulate) {
  detail::not_simulated("wgmma", acc, a, b, accumulate);
}

#endif

}  // namespace kzoo
