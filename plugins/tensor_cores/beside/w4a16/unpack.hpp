#pragma once
// Weights of 4 bits become operands of mma.sync, and rows of A are put into the order that this
// gives.
//
// A register of an operand is two elements of 16 bits. The two nibbles that are 16 bits apart in a
// word get there with one shift and one LOP3, so these are pairs: steps 0 and 4, 1 and 5, 2 and 6,
// 3 and 7 of the eight along K that a word has. Which step is which makes no difference to a sum,
// if those of A are in the same order.

#include <kzoo/cuda.hpp>

#include <cstring>
#include <type_traits>

namespace w4a16 {

template <class T>
using pair_of = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

// The bits of 136 in bf16 (1032 in fp16). Numbers from there to 15 more are these bits with another
// nibble, and an 8 in it; a signed nibble n, xored into them, is 136 + n.
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

// Eight weights as pairs of T: pairs[i] has steps i and i + 4. Exact.
template <class T>
__device__ __forceinline__ void unpack(unsigned word, unsigned (&pairs)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned offset = (word >> (4 * i) & 0x000f000fu) ^ kOffset<T>;
    pairs[i] = as_bits(__hsub2(as_pair<T>(offset), as_pair<T>(kOffset<T>)));
  }
}

// Eight neighbours of a row of A, in the order of the pairs of eight weights.
__device__ __forceinline__ uint4 in_order_of_pairs(const uint4& row) {
  constexpr unsigned kLow = 0x5410, kHigh = 0x7632;  // halves of both words
  return {__byte_perm(row.x, row.z, kLow), __byte_perm(row.x, row.z, kHigh),
          __byte_perm(row.y, row.w, kLow), __byte_perm(row.y, row.w, kHigh)};
}

}  // namespace w4a16
