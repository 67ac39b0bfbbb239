#pragma once
// A warp's tile of C by mma.sync: swizzled tiles in shared memory, fragments that ldmatrix loads
// from there, and the epilogue.

#include <kzoo/mma.hpp>
#include <kzoo/swizzled_tile.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstddef>

namespace mma {

inline constexpr int kInstructionK = 16;  // steps along K of an mma.sync

// A block computes BM x BN of C, each of its warps WM x WN of that; k tiles of 64, rows of 128
// bytes.
template <int BM, int BN, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = 64, kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsN = BN / WN, kThreads = 32 * (BM / WM) * kWarpsN;
  static constexpr int kRows = WM / 16, kCols = WN / 8;  // of a warp's accumulators, 16 x 8 each
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert(WN == 32 || WN == 64, "16 j and a lane's column have no bit in common");

  template <class E>
  using a_tile = kzoo::swizzled_tile<E, BM, kBK>;
  template <class E>
  using b_tile = kzoo::swizzled_tile<E, kBK, BN>;
  static constexpr int kStage = (BM + BN) * kBK;
  static constexpr std::size_t kBytes = std::size_t{2} * Stages * kStage;

  // Where the calling thread's warp has its tile in the block's.
  static __device__ int warp_row() { return threadIdx.x / 32 / kWarpsN * WM; }
  static __device__ int warp_col() { return threadIdx.x / 32 % kWarpsN * WN; }
};

template <class Tile>
using accumulators = float[Tile::kRows][Tile::kCols][4];

// What a warp multiplies in one k step: (WM, 16) of A and (16, WN) of B. One ldmatrix loads 16 x
// 16: four matrices of 8 x 8, whose rows are 16 bytes. Lane l names the row of matrix l / 8 that is
// at (l % 16, l / 16 * 8) of the 16 x 16:
//
//            columns 0-7   8-15
//   rows 0-7     lanes 0-7  16-23        A: registers 0 and 1 are rows 0-7 and 8-15 of k 0-7,
//   rows 8-15         8-15  24-31           2 and 3 of k 8-15. B, transposed: 0 and 1 are k 0-7
//                                           and 8-15 of columns 0-7, 2 and 3 of columns 8-15.
//
// For example, lane 20 of a warp at row 64 of A names row 64 + 4, columns 8 to 15, for k = 0. In a
// swizzled tile that row's 16 bytes are at 68 * 64 + (8 ^ 68 % 8 * 8) = 4352 + 40. The row
// 16 further down is 16 * 64 elements further, since row % 8 is the same; k = 16 is at
// 4352 + (40 ^ 16).
template <class E, class Tile>
struct fragments {
  using a_tile = typename Tile::template a_tile<E>;
  using b_tile = typename Tile::template b_tile<E>;
  unsigned a[Tile::kRows][4];
  unsigned b[Tile::kCols / 2][4];

  __device__ __forceinline__ void load(const E* stage, int k) {
    const int lane = threadIdx.x % 32, row = lane % 16, col = lane / 16 * 8;
    const int a_from = a_tile::offset(Tile::warp_row() + row, col) ^ k;
    const int b_from = b_tile::offset(row, Tile::warp_col() + col);
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i)
      kzoo::ldmatrix(a[i], stage + a_from + 16 * i * a_tile::kPanelCols);
#pragma unroll
    for (int j = 0; j < Tile::kCols / 2; ++j) {
      const E* from = stage + a_tile::kElements + k * b_tile::kPanelCols;
      kzoo::ldmatrix_transposed(b[j], from + (b_from ^ 16 * j));
    }
  }

  __device__ __forceinline__ void multiply(accumulators<Tile>& acc) const {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kCols; ++j) {
        const unsigned cols[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
        kzoo::mma<E>(acc[i][j], a[i], cols);
      }
    }
  }
};

// A warp's accumulators into C, in pairs of neighbouring columns. Of a block of 16 x 8 a lane has
// columns 2 (lane % 4) and the next, in rows lane / 4 and lane / 4 + 8.
template <bool kPairs, class Tile, class G>
__device__ __forceinline__ void store_as(const G& g, const accumulators<Tile>& acc, int row0,
                                         int col0) {
  const int lane = threadIdx.x % 32;
  const int row = row0 + Tile::warp_row() + lane / 4, col = col0 + Tile::warp_col() + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) {
      const float(&four)[4] = acc[i][j];
      common::store_pair<kPairs>(g, row + 16 * i, col + 8 * j, four[0], four[1]);
      common::store_pair<kPairs>(g, row + 16 * i + 8, col + 8 * j, four[2], four[3]);
    }
  }
}
template <class Tile, class G>
__device__ __forceinline__ void store(const G& g, const accumulators<Tile>& acc, int row0,
                                      int col0) {
  if (common::pairs_aligned(g)) {
    store_as<true, Tile>(g, acc, row0, col0);
  } else {
    store_as<false, Tile>(g, acc, row0, col0);
  }
}

}  // namespace mma
