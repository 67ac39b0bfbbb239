#pragma once
// Weights of 4 bits become operands of mma.sync, whose registers are pairs of elements of 16 bits.
// Which pair of steps along K is in which register makes no difference to a sum, if A's are in the
// same.

#include <kzoo/cuda.hpp>

#include <cstring>
#include <type_traits>

namespace w4a16 {

template <class T>
using pair_of = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

template <class T>
__device__ __forceinline__ pair_of<T> as_pair(unsigned bits) {
  static_assert(sizeof(pair_of<T>) == sizeof bits);
  pair_of<T> pair;
  std::memcpy(&pair, &bits, sizeof pair);
  return pair;
}
template <class Pair>
__device__ __forceinline__ unsigned as_bits(const Pair& pair) {
  unsigned bits = 0;
  std::memcpy(&bits, &pair, sizeof bits);
  return bits;
}

// word & kMask ^ kFlip in one instruction; the compiler makes two of it, with a constant in each.
template <unsigned kMask, unsigned kFlip>
__device__ __forceinline__ unsigned mask_and_flip(unsigned word) {
#if defined(__CUDACC__)
  unsigned result = 0;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(result) : "r"(word), "n"(kMask), "n"(kFlip));
  return result;
#else
  return (word & kMask) ^ kFlip;
#endif
}

// Orders of eight steps along K, each with the pairs of numbers that it makes of a word of weights.
// A kernel that puts its rows of A in order once chooses `apart`, one that takes them as they lie
// in memory `neighbours`.

// Steps 0 and 4, 1 and 5, 2 and 6, 3 and 7, whose weights are 16 bits apart. A signed nibble n with
// its first bit flipped is n + 8. In the last eight bits of a number of 16, where all exponents are
// the least, it is this many times the least number: in bits 0 to 3 as it is, in bits 4 to 7
// sixteen times as much. So two pairs have one shift, and a multiplication makes n + 8 times kOne
// of each, exactly; who uses them divides sums by kOne.
template <class T>
struct least_exponents;
template <>
struct least_exponents<__nv_bfloat16> {
  static constexpr float kOne = 0x1p-6f;
  static constexpr unsigned kLow = 0x7f00, kHigh = 0x7d00;  // 2^127 and 2^123
  static constexpr unsigned kMinusEight = 0xbe00;           // -8 times kOne
};
template <>
struct least_exponents<__half> {
  static constexpr float kOne = 0x1p-9f;
  static constexpr unsigned kLow = 0x7800, kHigh = 0x6800;  // 2^15 and 2^11
  static constexpr unsigned kMinusEight = 0xa400;
};
struct apart {
  template <class T, int kPair>
  static __device__ __forceinline__ unsigned pair(unsigned word) {
    using of = least_exponents<T>;
    constexpr bool kIsLow = kPair % 2 == 0;
    constexpr unsigned kMask = kIsLow ? 0x000f000fu : 0x00f000f0u, kTwice = 0x10001u;
    constexpr unsigned kFactors = (kIsLow ? of::kLow : of::kHigh) * kTwice;
    const unsigned bits = mask_and_flip<kMask, kMask & 0x00880088u>(word >> (kPair / 2 * 8));
    return as_bits(
        __hfma2(as_pair<T>(bits), as_pair<T>(kFactors), as_pair<T>(of::kMinusEight * kTwice)));
  }
  static __device__ __forceinline__ uint4 in_order(const uint4& row) {
    constexpr unsigned kLow = 0x5410, kHigh = 0x7632;  // halves of both words
    return {__byte_perm(row.x, row.z, kLow), __byte_perm(row.x, row.z, kHigh),
            __byte_perm(row.y, row.w, kLow), __byte_perm(row.y, row.w, kHigh)};
  }
};

// The bits of 136 in bf16 (1032 in fp16), twice. Numbers from 8 less to 7 more are these bits with
// another nibble at the end: a signed nibble n, xored into them, makes 136 + n.
template <class T>
inline constexpr unsigned kOffset = std::is_same_v<T, __half> ? 0x64086408u : 0x43084308u;

// Steps 0 and 1, 2 and 3, 4 and 5, 6 and 7, whose weights are in one byte.
struct neighbours {
  template <class T, int kPair>
  static __device__ __forceinline__ unsigned pair(unsigned word) {
    constexpr unsigned kEven = kPair * 0x11, kOdd = 0x44 + kPair * 0x11;  // bytes of both words
    const unsigned both = __byte_perm(word, word >> 4, kOdd << 8 | kEven);
    const unsigned sum = mask_and_flip<0x000f000fu, kOffset<T>>(both);
    return as_bits(__hsub2(as_pair<T>(sum), as_pair<T>(kOffset<T>)));  // exact
  }
};

// A 16 x 16 operand twice, of eight steps along K that a lane has of two columns of B.
struct operands {
  unsigned first[4], second[4];  // steps of pairs 0 and 1, and of 2 and 3
};
template <class T, class Order>
__device__ __forceinline__ operands unpack(unsigned column, unsigned next) {
  return {{Order::template pair<T, 0>(column), Order::template pair<T, 0>(next),
           Order::template pair<T, 1>(column), Order::template pair<T, 1>(next)},
          {Order::template pair<T, 2>(column), Order::template pair<T, 2>(next),
           Order::template pair<T, 3>(column), Order::template pair<T, 3>(next)}};
}

// Word `i`, a constant once loops are unrolled.
__device__ __forceinline__ unsigned word_of(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

}  // namespace w4a16
