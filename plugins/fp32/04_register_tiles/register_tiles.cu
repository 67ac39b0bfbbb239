// Register tiles: a thread computes TM x TN elements of C instead of one, from TM values of A and
// TN of B at a time: TM + TN reads of shared memory for TM * TN FMAs. Its elements are kThreadsX
// columns and kThreadsY rows apart; the README has a picture.

#include <fp32/common/load_tiles.hpp>

namespace {

template <class Gemm, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm) register_tiles_kernel(Gemm batch) {
  using T = typename Gemm::element;
  const auto g = batch[blockIdx.z];
  __shared__ T a_tile[S::kBM][S::kBK];
  __shared__ T b_tile[S::kBK][S::kBN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * S::kThreadsX + tx;
  const int row0 = blockIdx.y * S::kBM, col0 = blockIdx.x * S::kBN;

  typename Gemm::accumulator_type acc[S::kTM][S::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    common::load_tiles<S>(g, row0, col0, k0, thread, a_tile, b_tile);
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

template <int BM, int BN, int BK, int TM, int TN>
struct tiles {
  using types = kzoo::types<float, int>;
  static constexpr bool batches = true;
  using grid = common::tiling<BM, BN, BK, TM, TN, TM * TN == 64 ? 2 : 0>;
  template <class Gemm>
  static constexpr auto kernel = register_tiles_kernel<Gemm, grid>;
};

}  // namespace

KZOO_PLUGIN("register_tiles", "Tiles in shared memory, and TM x TN accumulators per thread",
            kzoo::variant<tiles<32, 32, 8, 2, 2>>("32x32x8_2x2", "256 threads, for small matrices"),
            kzoo::variant<tiles<64, 64, 8, 4, 4>>("64x64x8_4x4", "256 threads, 16 outputs each"),
            kzoo::variant<tiles<128, 64, 8, 8, 4>>("128x64x8_8x4", "256 threads, 32 outputs each"),
            kzoo::variant<tiles<128, 128, 8, 4, 4>>("128x128x8_4x4", "1024 threads, 16 outputs"),
            kzoo::variant<tiles<128, 128, 8, 8, 8>>("128x128x8_8x8", "256 threads, 64 outputs"));
