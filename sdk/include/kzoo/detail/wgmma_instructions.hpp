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

// TYPES: the last part of the instruction's name. Operands after the registers: A, B, whether to
// add, and for 16-bit types both transpositions.
#define KZOO_WGMMA_TEXT(N, TYPES, REGISTERS, A, B, ADD, TRANSPOSED)           \
  "{\n"                                                                       \
  ".reg .pred add;\n"                                                         \
  "setp.ne.b32 add, %" ADD                                                    \
  ", 0;\n"                                                                    \
  "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {" REGISTERS "}, " A ", %" B \
  ", add, 1, 1" TRANSPOSED                                                    \
  ";\n"                                                                       \
  "}"
#define KZOO_WGMMA(N, TYPES, REGISTERS, A, B, ADD, TRANSPOSED, ...)                 \
  asm volatile(KZOO_WGMMA_TEXT(N, TYPES, REGISTERS, "%" A, B, ADD, TRANSPOSED)      \
               : __VA_ARGS__                                                        \
               : "l"(a.bits), "l"(b.bits), "r"(int(accumulate)), "n"(unsigned(kA)), \
                 "n"(unsigned(kB)))
// With A in four registers.
#define KZOO_WGMMA_FROM_REGISTERS(N, TYPES, REGISTERS, A, B, ADD, ...)                            \
  asm volatile(KZOO_WGMMA_TEXT(N, TYPES, REGISTERS, "{" A "}", B, ADD, "")                        \
               : __VA_ARGS__                                                                      \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "l"(b.bits), \
                 "r"(int(accumulate)))
#define KZOO_WGMMA_64(TYPES, TRANSPOSED) \
  KZOO_WGMMA(64, TYPES, KZOO_REGISTERS_64, "32", "33", "34", TRANSPOSED, KZOO_ACC32(0))
#define KZOO_WGMMA_128(TYPES, TRANSPOSED)                                                 \
  KZOO_WGMMA(128, TYPES, KZOO_REGISTERS_128, "64", "65", "66", TRANSPOSED, KZOO_ACC32(0), \
             KZOO_ACC32(1))
#define KZOO_WGMMA_192(TYPES, TRANSPOSED)                                                 \
  KZOO_WGMMA(192, TYPES, KZOO_REGISTERS_192, "96", "97", "98", TRANSPOSED, KZOO_ACC32(0), \
             KZOO_ACC32(1), KZOO_ACC32(2))
#define KZOO_WGMMA_256(TYPES, TRANSPOSED)                                                    \
  KZOO_WGMMA(256, TYPES, KZOO_REGISTERS_256, "128", "129", "130", TRANSPOSED, KZOO_ACC32(0), \
             KZOO_ACC32(1), KZOO_ACC32(2), KZOO_ACC32(3))
#define KZOO_WGMMA_16BIT(TYPES)           \
  if constexpr (N == 64)                  \
    KZOO_WGMMA_64(TYPES, ", %35, %36");   \
  else if constexpr (N == 128)            \
    KZOO_WGMMA_128(TYPES, ", %67, %68");  \
  else if constexpr (N == 192)            \
    KZOO_WGMMA_192(TYPES, ", %99, %100"); \
  else                                    \
    KZOO_WGMMA_256(TYPES, ", %131, %132")
#define KZOO_WGMMA_K_MAJOR(TYPES) \
  if constexpr (N == 64)          \
    KZOO_WGMMA_64(TYPES, "");     \
  else if constexpr (N == 128)    \
    KZOO_WGMMA_128(TYPES, "");    \
  else if constexpr (N == 192)    \
    KZOO_WGMMA_192(TYPES, "");    \
  else                            \
    KZOO_WGMMA_256(TYPES, "")

template <int N, class A, class B, major kA, major kB>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], wgmma_operand<A, kA> a,
                                      wgmma_operand<B, kB> b, bool accumulate KZOO_AND_HERE) {
  static_assert(N == 64 || N == 128 || N == 192 || N == 256,
                "wgmma.hpp has N = 64, 128, 192 and 256");
  constexpr bool kE4m3A = std::is_same_v<A, __nv_fp8_e4m3>,
                 kE4m3B = std::is_same_v<B, __nv_fp8_e4m3>;
  constexpr bool kE5m2A = std::is_same_v<A, __nv_fp8_e5m2>,
                 kE5m2B = std::is_same_v<B, __nv_fp8_e5m2>;
  if constexpr (std::is_same_v<A, __half> && std::is_same_v<B, __half>) {
    KZOO_WGMMA_16BIT("k16.f32.f16.f16");
  } else if constexpr (std::is_same_v<A, __nv_bfloat16> && std::is_same_v<B, __nv_bfloat16>) {
    KZOO_WGMMA_16BIT("k16.f32.bf16.bf16");
  } else if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float>) {
    KZOO_WGMMA_K_MAJOR("k8.f32.tf32.tf32");
  } else if constexpr (kE4m3A && kE4m3B) {
    KZOO_WGMMA_K_MAJOR("k32.f32.e4m3.e4m3");
  } else if constexpr (kE4m3A && kE5m2B) {
    KZOO_WGMMA_K_MAJOR("k32.f32.e4m3.e5m2");
  } else {
    static_assert(kE5m2A && kE4m3B,
                  "wgmma.hpp has fp16, bf16, TF32, and fp8 but for e5m2 times e5m2");
    KZOO_WGMMA_K_MAJOR("k32.f32.e5m2.e4m3");
  }
}

template <int N, class A, class B>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], const wgmma_fragment<A>& a,
                                      wgmma_operand<B, major::k> b, bool accumulate KZOO_AND_HERE) {
  constexpr bool kE4m3 = std::is_same_v<A, __nv_fp8_e4m3> && std::is_same_v<B, __nv_fp8_e4m3>,
                 kTf32 = std::is_same_v<A, float> && std::is_same_v<B, float>;
  static_assert((N == 64 && kE4m3) || ((N == 128 || N == 256) && kTf32),
                "wgmma.hpp has A in registers for e4m3 with N = 64, TF32 with N = 128 and 256");
  if constexpr (N == 64) {
    KZOO_WGMMA_FROM_REGISTERS(64, "k32.f32.e4m3.e4m3", KZOO_REGISTERS_64, "%32, %33, %34, %35",
                              "36", "37", KZOO_ACC32(0));
  } else if constexpr (N == 128) {
    KZOO_WGMMA_FROM_REGISTERS(128, "k8.f32.tf32.tf32", KZOO_REGISTERS_128, "%64, %65, %66, %67",
                              "68", "69", KZOO_ACC32(0), KZOO_ACC32(1));
  } else {
    KZOO_WGMMA_FROM_REGISTERS(256, "k8.f32.tf32.tf32", KZOO_REGISTERS_256, "%128, %129, %130, %131",
                              "132", "133", KZOO_ACC32(0), KZOO_ACC32(1), KZOO_ACC32(2),
                              KZOO_ACC32(3));
  }
}

#undef KZOO_WGMMA_K_MAJOR
#undef KZOO_WGMMA_16BIT
#undef KZOO_WGMMA_256
#undef KZOO_WGMMA_192
#undef KZOO_WGMMA_128
#undef KZOO_WGMMA_64
#undef KZOO_WGMMA_FROM_REGISTERS
#undef KZOO_WGMMA
#undef KZOO_WGMMA_TEXT
#undef KZOO_REGISTERS_256
#undef KZOO_REGISTERS_192
#undef KZOO_REGISTERS_128
#undef KZOO_REGISTERS_64
#undef KZOO_ACC32
#undef KZOO_ACC8
#undef KZOO_TEN

#else

namespace detail {
inline const bool kWgmmaIsFollowed = sim::sm90::follow_async_proxy();

template <class T>
constexpr sim::sm90::operand_type operand_type_of() {
  if constexpr (std::is_same_v<T, __half>) return sim::sm90::operand_type::f16;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return sim::sm90::operand_type::bf16;
  if constexpr (std::is_same_v<T, float>) return sim::sm90::operand_type::tf32;
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) return sim::sm90::operand_type::e4m3;
  if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) return sim::sm90::operand_type::e5m2;
}
}  // namespace detail

template <int N, class A, class B, major kA, major kB>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], wgmma_operand<A, kA> a,
                                      wgmma_operand<B, kB> b, bool accumulate,
                                      std::source_location where) {
  static_assert(N == 64 || N == 128 || N == 192 || N == 256,
                "wgmma.hpp has N = 64, 128, 192 and 256");
  sim::sm90::wgmma({N, detail::operand_type_of<A>(), detail::operand_type_of<B>(), kA == major::mn,
                    kB == major::mn, accumulate, a.bits, b.bits, nullptr, acc},
                   where);
}
template <int N, class A, class B>
__device__ __forceinline__ void wgmma(float (&acc)[N / 2], const wgmma_fragment<A>& a,
                                      wgmma_operand<B, major::k> b, bool accumulate,
                                      std::source_location where) {
  sim::sm90::wgmma({N, detail::operand_type_of<A>(), detail::operand_type_of<B>(), false, false,
                    accumulate, 0, b.bits, a.words, acc},
                   where);
}

#endif

}  // namespace kzoo
