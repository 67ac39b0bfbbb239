// Register tiles: a thread computes TM x TN elements of C instead of one, from TM values of A and
// TN of B at a time: TM + TN reads of shared memory for TM * TN FMAs. Its elements are kThreadsX
// columns and kThreadsY rows apart; the README has a picture.

#include <fp32/common/tiling.hpp>

namespace {

template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    register_tiles_kernel(kzoo::gemm<float> g) {
  __shared__ float a_tile[Tile::kBM][Tile::kBK];  // (BM, BK)
  __shared__ float b_tile[Tile::kBK][Tile::kBN];  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * Tile::kThreadsX + tx;
  const int row0 = blockIdx.y * Tile::kBM, col0 = blockIdx.x * Tile::kBN;

  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    // Threads take the elements of a tile in turn, row after row: neighbours load neighbours. The
    // bound `thread + ...` makes the number of iterations a constant, so that the loop is unrolled.
#pragma unroll
    for (int i = thread; i < thread + Tile::kBM * Tile::kBK; i += Tile::kThreads) {
      a_tile[i / Tile::kBK][i % Tile::kBK] = g.a_or_zero(row0 + i / Tile::kBK, k0 + i % Tile::kBK);
    }
#pragma unroll
    for (int i = thread; i < thread + Tile::kBK * Tile::kBN; i += Tile::kThreads) {
      b_tile[i / Tile::kBN][i % Tile::kBN] = g.b_or_zero(k0 + i / Tile::kBN, col0 + i % Tile::kBN);
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
    for (int j = 0; j < Tile::kTN; ++j)
      g.store_inside(row0 + ty + i * Tile::kThreadsY, col0 + tx + j * Tile::kThreadsX, acc[i][j]);
  }
}

template <int BM, int BN, int BK, int TM, int TN>
struct variant {
  // Two blocks per SM for the largest thread tile; else the compiler decides (README).
  using Tile = common::tiling<BM, BN, BK, TM, TN, TM * TN == 64 ? 2 : 0>;
  using grid = Tile;  // it is a kzoo::tile_grid: BM x BN of C for each block
  static constexpr auto kernel = register_tiles_kernel<Tile>;
};

}  // namespace

KZOO_PLUGIN("register_tiles", "Tiles in shared memory, and TM x TN accumulators per thread",
            kzoo::variant<variant<32, 32, 8, 2, 2>>("32x32x8_2x2",
                                                    "256 threads, for small matrices"),
            kzoo::variant<variant<64, 64, 8, 4, 4>>("64x64x8_4x4", "256 threads, 16 outputs each"),
            kzoo::variant<variant<128, 64, 8, 8, 4>>("128x64x8_8x4",
                                                     "256 threads, 32 outputs each"),
            kzoo::variant<variant<128, 128, 8, 4, 4>>("128x128x8_4x4", "1024 threads, 16 outputs"),
            kzoo::variant<variant<128, 128, 8, 8, 8>>("128x128x8_8x8", "256 threads, 64 outputs"));
