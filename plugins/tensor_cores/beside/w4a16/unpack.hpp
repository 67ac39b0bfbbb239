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

// The bits of 136 in bf16 (1032 in fp16), twice. Numbers from 8 less to 7 more are these bits with
// another nibble at the end: a signed nibble n, xored into them, makes 136 + n.
template <class T>
inline constexpr unsigned kOffset = std::is_same_v<T, __half> ? 0x64086408u : 0x43084308u;

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

// The nibbles at the end of both halves of a word, as numbers. Exact.
template <class T>
__device__ __forceinline__ unsigned to_numbers(unsigned word) {
  const unsigned sum = mask_and_flip<0x000f000fu, kOffset<T>>(word);
  return as_bits(__hsub2(as_pair<T>(sum), as_pair<T>(kOffset<T>)));
}

// Orders of eight steps along K. A kernel that puts its rows of A in order once chooses `apart`,
// one that takes them as they lie in memory `neighbours`.

// Steps 0 and 4, 1 and 5, 2 and 6, 3 and 7, whose weights are 16 bits apart: a shift for each pair.
struct apart {
  static __device__ __forceinline__ unsigned pair(unsigned word, int i) { return word >> (4 * i); }
  static __device__ __forceinline__ uint4 in_order(const uint4& row) {
    constexpr unsigned kLow = 0x5410, kHigh = 0x7632;  // halves of both words
    return {__byte_perm(row.x, row.z, kLow), __byte_perm(row.x, row.z, kHigh),
            __byte_perm(row.y, row.w, kLow), __byte_perm(row.y, row.w, kHigh)};
  }
};

// Steps 0 and 1, 2 and 3, 4 and 5, 6 and 7, whose weights are in one byte.
struct neighbours {
  static __device__ __forceinline__ unsigned pair(unsigned word, int i) {
    const unsigned even = i * 0x11, odd = 0x44 + i * 0x11;  // bytes of both words
    return __byte_perm(word, word >> 4, odd << 8 | even);
  }
};

// A 16 x 16 operand twice, of eight steps along K that a lane has of two columns of B.
struct operands {
  unsigned first[4], second[4];  // steps of pairs 0 and 1, and of 2 and 3
};
template <class T, class Order>
__device__ __forceinline__ operands unpack(unsigned column, unsigned next) {
  operands to;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    to.first[2 * i] = to_numbers<T>(Order::pair(column, i));
    to.first[2 * i + 1] = to_numbers<T>(Order::pair(next, i));
    to.second[2 * i] = to_numbers<T>(Order::pair(column, 2 + i));
    to.second[2 * i + 1] = to_numbers<T>(Order::pair(next, 2 + i));
  }
  return to;
}

// Word `i`, a constant once loops are unrolled.
__device__ __forceinline__ unsigned word_of(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

}  // namespace w4a16
