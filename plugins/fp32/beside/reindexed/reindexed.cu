// Thread remapping: which of 1024 threads loads which element of a 128 x 8 tile of A and an 8 x 128
// tile of B, 1024 elements each. By their coordinates in the block, 32 x 32, only the threads with
// a small threadIdx have anything to load: this is variant `direct`. Numbered in one line and
// folded again into 128 x 8 and 8 x 128, each thread loads one element of each tile
// (common/load_tiles.hpp). The rest is register_tiles.

#include <fp32/common/load_tiles.hpp>

namespace {

template <class T, class S, bool kReindexed>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm) reindexed_kernel(kzoo::gemm<T> g) {
  __shared__ T a_tile[S::kBM][S::kBK];
  __shared__ T b_tile[S::kBK][S::kBN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * S::kThreadsX + tx;
  const int row0 = blockIdx.y * S::kBM, col0 = blockIdx.x * S::kBN;

  kzoo::accumulator_t<T> acc[S::kTM][S::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    if constexpr (kReindexed) {
      common::load_tiles<S>(g, row0, col0, k0, thread, a_tile, b_tile);
    } else {
      if (tx < S::kBK) {
#pragma unroll
        for (int row = 0; row < S::kBM; row += S::kThreadsY) {
          a_tile[row + ty][tx] = g.a_or_zero(row0 + row + ty, k0 + tx);
        }
      }
      if (ty < S::kBK) {
#pragma unroll
        for (int col = 0; col < S::kBN; col += S::kThreadsX) {
          b_tile[ty][col + tx] = g.b_or_zero(k0 + ty, col0 + col + tx);
        }
      }
    }
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      T a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) a[i] = a_tile[ty + i * S::kThreadsY][k];
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) b[j] = b_tile[k][tx + j * S::kThreadsX];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // all threads have read them
  }
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) {
      g.store_inside(row0 + ty + i * S::kThreadsY, col0 + tx + j * S::kThreadsX, acc[i][j]);
    }
  }
}

template <bool kReindexed>
struct reindexed {
  using types = kzoo::types<float, int>;
  using grid = common::tiling<128, 128, 8, 4, 4, 0>;
  template <class T>
  static constexpr auto kernel = reindexed_kernel<T, grid, kReindexed>;
};

}  // namespace

KZOO_PLUGIN("reindexed", "Threads remapped for the tiles that they load",
            kzoo::variant<reindexed<false>>("direct", "a quarter of the threads load 4 elements"),
            kzoo::variant<reindexed<true>>("reindexed", "each thread loads one element"));
