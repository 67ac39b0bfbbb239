#pragma once
// MN-major tiles of i8 and TF32, which ldmatrix does not transpose.

#include "operand.hpp"

namespace mma {

// i8: ldmatrix transposes pairs of bytes. A lane gets, for two neighbouring MN indices, two steps
// along K in each register, and sorts them: even MN indices become the first eight of a fragment,
// odd ones the others:
//
//     place in the fragment   0  1  2 ... 7   8  9 10 ... 15
//     MN index                0  2  4 ... 14  1  3  5 ... 15
//
// Lane t of four (lane % 4) needs steps 4 t to 4 t + 3, and gets rows 2 t and 2 t + 1 of each
// matrix. So a matrix is made of these rows of the tile (a row is a step along K):
//
//     t              0     1     2      3
//     matrix 0     0  1  4  5  10 11  14 15       matrices 2 and 3: the same 16 steps further
//     matrix 1     2  3  6  7   8  9  12 13
//
// With t = 2 and 3 the wrong way round, the eight rows of a matrix are eight different ones modulo
// 8, which the swizzle puts into different banks. `swapped` puts their steps in order again.
template <side kSide, int MN, int BK>
struct operand<kSide, signed char, MN, BK, false>
    : common::operand_tile<signed char, MN, BK, false> {
  using base = common::operand_tile<signed char, MN, BK, false>;
  using in = registers<kSide>;
  static constexpr __host__ __device__ int mn(int i) { return i / 16 * 16 + i % 8 * 2 + i / 8 % 2; }

  static __device__ __forceinline__ int lane(int warp_mn) {
    const int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8, t = row / 2;
    return base::offset(warp_mn, matrix / 2 * 16 + 4 * t + (matrix % 2 ^ t / 2) * 2 + row % 2);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const signed char* from, int lane,
                                              int first, int k) {
    unsigned pairs[4];
    kzoo::ldmatrix_transposed(pairs, from + (lane ^ first) + k * base::tile::kPanelCols);
    const bool swapped = threadIdx.x % 4 >= 2;
    // The bytes of the even MN index, and of the odd one, in the order of K.
    const unsigned even = swapped ? 0x2064 : 0x6420, odd = swapped ? 0x3175 : 0x7531;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      r[in::index(0, half)] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], even);
      r[in::index(1, half)] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], odd);
    }
  }
};

// TF32: lanes load element by element. A swizzle would make each address another exclusive or; with
// eight unused words after each row, four rows of eight elements are in 32 different banks, and
// addresses differ by constants.
template <side kSide, int MN, int BK>
struct operand<kSide, float, MN, BK, false> {
  struct tile {
    static constexpr int kRows = BK, kCols = MN, kStride = MN + 8;
    static constexpr __host__ __device__ int offset(int row, int col) {
      return row * kStride + col;
    }
  };
  using in = registers<kSide>;
  static constexpr int kElements = BK * tile::kStride;
  static constexpr __host__ __device__ int row(int, int k) { return k; }
  static constexpr __host__ __device__ int col(int mn, int) { return mn; }
  static constexpr __host__ __device__ int mn(int i) { return i; }

  static __device__ __forceinline__ int lane(int warp_mn) {
    const int lane = threadIdx.x % 32;
    return tile::offset(lane % 4, warp_mn + lane / 4);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const float* from, int lane,
                                              int first, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int to = tile::offset(k + in::k_half(i) * 4, first + in::mn_half(i) * 8);
      r[i] = *reinterpret_cast<const unsigned*>(from + lane + to);
    }
  }
};

}  // namespace mma
