// Thread remapping: which of 1024 threads loads which element of a 128 x 8 tile of A and an 8 x 128
// tile of B, 1024 elements each. By their coordinates in the block, 32 x 32, only the threads with
// a small threadIdx have anything to load: this is variant `direct`. Numbered in one line and
// folded again into 128 x 8 and 8 x 128, each thread loads one element of each tile: variant
// `reindexed`. The rest is register_tiles.

#include <fp32/common/tiling.hpp>

namespace {

template <class Tile, bool kReindexed>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    reindexed_kernel(kzoo::gemm<float> g) {
  __shared__ float a_tile[Tile::kBM][Tile::kBK];  // (BM, BK)
  __shared__ float b_tile[Tile::kBK][Tile::kBN];  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * Tile::kThreadsX + tx;
  const int row0 = blockIdx.y * Tile::kBM, col0 = blockIdx.x * Tile::kBN;

  float acc[Tile::kTM][Tile::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    if constexpr (kReindexed) {
      static_assert(Tile::kBM * Tile::kBK == Tile::kThreads &&
                    Tile::kBK * Tile::kBN == Tile::kThreads);
      const int a_row = thread / Tile::kBK, a_k = thread % Tile::kBK;
      const int b_k = thread / Tile::kBN, b_col = thread % Tile::kBN;
      a_tile[a_row][a_k] = g.a_or_zero(row0 + a_row, k0 + a_k);
      b_tile[b_k][b_col] = g.b_or_zero(k0 + b_k, col0 + b_col);
    } else {
      if (tx < Tile::kBK) {
#pragma unroll
        for (int row = 0; row < Tile::kBM; row += Tile::kThreadsY) {
          a_tile[row + ty][tx] = g.a_or_zero(row0 + row + ty, k0 + tx);
        }
      }
      if (ty < Tile::kBK) {
#pragma unroll
        for (int col = 0; col < Tile::kBN; col += Tile::kThreadsX) {
          b_tile[ty][col + tx] = g.b_or_zero(k0 + ty, col0 + col + tx);
        }
      }
    }
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      float a[Tile::kTM], b[Tile::kTN];
#pragma unroll
      for (int i = 0; i < Tile::kTM; ++i) a[i] = a_tile[ty + i * Tile::kThreadsY][k];
#pragma unroll
      for (int j = 0; j < Tile::kTN; ++j) b[j] = b_tile[k][tx + j * Tile::kThreadsX];
#pragma unroll
      for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kTN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // all threads have read them
  }
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kTN; ++j) {
      g.store_inside(row0 + ty + i * Tile::kThreadsY, col0 + tx + j * Tile::kThreadsX, acc[i][j]);
    }
  }
}

template <bool kReindexed>
struct reindexed {
  using grid = common::tiling<128, 128, 8, 4, 4, 0>;
  static constexpr auto kernel = reindexed_kernel<grid, kReindexed>;
};

}  // namespace

KZOO_PLUGIN("reindexed", "Threads remapped for the tiles that they load",
            kzoo::variant<reindexed<false>>("direct", "a quarter of the threads load 4 elements"),
            kzoo::variant<reindexed<true>>("reindexed", "each thread loads one element"));
