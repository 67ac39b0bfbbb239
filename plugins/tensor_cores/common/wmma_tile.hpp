#pragma once
// A warp's tile of C in WMMA fragments: what a block has in shared memory, what a warp has in
// registers, and the epilogue. Blocks are launched by launch_tiles, one for each tile.

#include <kzoo/plugin.hpp>
#include <kzoo/wmma.hpp>
#include <tensor_cores/common/from_sm75.hpp>
#include <tensor_cores/common/launch_tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace wmma_tiles {

namespace wmma = nvcuda::wmma;

inline constexpr int kFragment = 16;  // rows and columns of a fragment

// A tile in shared memory, with eight unused elements after each row: so the eight rows of 16 bytes
// that a load of a fragment reads at a time fall into different banks.
template <int Rows, int Cols>
struct padded_tile {
  static constexpr int kRows = Rows, kCols = Cols, kRowLength = Cols + 8;
  static constexpr int kElements = Rows * kRowLength;
  static constexpr __host__ __device__ int offset(int row, int col) {
    return row * kRowLength + col;
  }
};

// A block computes BM x BN of C in steps of BK along K, each of its warps WM x WN of that.
template <int BM, int BN, int BK, int WM, int WN, int BlocksPerSm, int Stages = 1>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kBlocksPerSm = BlocksPerSm, kStages = Stages;
  static constexpr int kWarpsN = BN / WN, kWarps = BM / WM * kWarpsN, kThreads = 32 * kWarps;
  static constexpr int kRows = WM / kFragment, kCols = WN / kFragment;  // fragments of a warp
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");

  using a_tile = padded_tile<BM, BK>;
  using b_tile = padded_tile<BK, BN>;
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;  // a k tile of A, then of B
  // The epilogue uses the same memory: 16 rows of C for each warp, floats.
  using c_tile = padded_tile<kFragment, WN>;
  static constexpr std::size_t kBytes =
      std::max(2 * Stages * kStage, 4 * kWarps * c_tile::kElements);

  // Where the calling thread's warp has its tile in the block's.
  static __device__ int warp_row() { return threadIdx.x / 32 / kWarpsN * WM; }
  static __device__ int warp_col() { return threadIdx.x / 32 % kWarpsN * WN; }
};

// A warp's tile of C.
template <class Tile>
using accumulators = wmma::fragment<wmma::accumulator, 16, 16, 16, float>[Tile::kRows][Tile::kCols];

template <class Tile>
__device__ __forceinline__ void fill_zero(accumulators<Tile>& acc) {
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  }
}

// What a warp multiplies in one k step: (WM, 16) of A and (16, WN) of B.
template <class E, class Tile>
struct fragments {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, E, wmma::row_major> a[Tile::kRows];
  wmma::fragment<wmma::matrix_b, 16, 16, 16, E, wmma::row_major> b[Tile::kCols];

  __device__ __forceinline__ void load(const E* stage, int k) {
    const E* a_from = stage + Tile::a_tile::offset(Tile::warp_row(), k);
    const E* b_from = stage + Tile::a_tile::kElements + Tile::b_tile::offset(k, Tile::warp_col());
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i)
      kzoo::load_from_shared(a[i], a_from + Tile::a_tile::offset(i * kFragment, 0),
                             Tile::a_tile::kRowLength);
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j)
      kzoo::load_from_shared(b[j], b_from + j * kFragment, Tile::b_tile::kRowLength);
  }

  __device__ __forceinline__ void multiply(accumulators<Tile>& acc) const {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kCols; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
  }
};

// Eight neighbours of C, from sums in shared memory: as one word of 16 bytes where they are one.
template <class G>
__device__ __forceinline__ void store_eight(G g, int row, int col, const float* sums) {
  struct alignas(16) word {
    typename G::c_type c[8];
  };
  auto* const to = reinterpret_cast<word*>(g.c + row * g.ldc + col);
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || row >= g.m || col + 8 > g.n) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) g.store_inside(row, col + i, sums[i]);
    return;
  }
  word eight = g.beta != 0 ? *to : word{};
  g.c = eight.c;
#pragma unroll
  for (int i = 0; i < 8; ++i) g.store(0, i, sums[i]);
  *to = eight;
}

// The epilogue: a warp's fragments go into C a row of fragments at a time, through shared memory of
// the warp's own, because WMMA does not say which elements of a fragment a thread holds. All
// threads call this when they have read the last stage; the block's tile begins at (row0, col0) of
// C.
template <class Tile, class G>
__device__ __forceinline__ void store(const G& g, const accumulators<Tile>& acc, void* shared,
                                      int row0, int col0) {
  float* rows = static_cast<float*>(shared) + threadIdx.x / 32 * Tile::c_tile::kElements;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j)
      wmma::store_matrix_sync(rows + j * kFragment, acc[i][j], Tile::c_tile::kRowLength,
                              wmma::mem_row_major);
    __syncwarp();  // the rows are complete
#pragma unroll
    for (int at = threadIdx.x % 32 * 8; at < kFragment * Tile::c_tile::kCols; at += 32 * 8) {
      const int row = at / Tile::c_tile::kCols, col = at % Tile::c_tile::kCols;
      store_eight(g, row0 + Tile::warp_row() + i * kFragment + row, col0 + Tile::warp_col() + col,
                  rows + Tile::c_tile::offset(row, col));
    }
    __syncwarp();  // all lanes have read them
  }
}

}  // namespace wmma_tiles
