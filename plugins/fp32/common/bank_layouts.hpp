#pragma once
// Where element (row, k) of A's transposed tile, (BK, BM), goes in shared memory: at(k, row).
// Shared memory has 32 banks of 4 bytes; accesses of a warp to different words of one bank take
// turns. In each of these layouts four neighbouring rows, from a multiple of four on, are
// neighbours: a float4.

#include <kzoo/cuda.hpp>

namespace common {

// One k after the other, BM rows each. The two float4s of a row of A, at k and k + 4, are stored by
// neighbouring threads in the same instruction, to the same bank: two wavefronts.
template <class Tile>
struct plain {
  static constexpr int kSize = Tile::kBK * Tile::kBM;  // floats
  __host__ __device__ static constexpr int at(int k, int row) { return k * Tile::kBM + row; }
};

// Four unused words after the rows of each k.
template <class Tile>
struct padded {
  static constexpr int kStride = Tile::kBM + 4, kSize = Tile::kBK * kStride;
  __host__ __device__ static constexpr int at(int k, int row) { return k * kStride + row; }
};

// No unused words: rows are permuted instead, by an exclusive or that differs every four k. With
// BK = 8, for example, the rows of k = 4 to 7 change places 16 apart:
//
//   k = 0 .. 3    rows  0  1  2 ... 15 16 17 ... 31 32 ...
//   k = 4 .. 7    rows 16 17 18 ... 31  0  1 ... 15 48 ...
//
// A warp stores float4s of 128 / BK rows, BK / 4 of each row, one for every four k. With each four
// k the rows are moved by 128 / BK more, so that those BK / 4 go to different banks.
template <class Tile>
struct swizzled {
  static constexpr int kSize = Tile::kBK * Tile::kBM;
  __host__ __device__ static constexpr int at(int k, int row) {
    return k * Tile::kBM + (row ^ (k / 4 * (128 / Tile::kBK)));
  }
};

}  // namespace common
