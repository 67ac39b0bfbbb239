// Tiles of A and B in shared memory. A block computes a kTile x kTile tile of C and walks along K
// in steps of kTile: each of its threads loads one element of each tile, and after a barrier all of
// them read each element kTile times from shared memory. Past the edges the tiles hold zeros.

#include <kzoo/plugin.hpp>

namespace {

template <int kTile>
__global__ void smem_kernel(kzoo::gemm<float> g) {
  __shared__ float a_tile[kTile][kTile];  // (kTile rows of A, kTile k steps)
  __shared__ float b_tile[kTile][kTile];  // (kTile k steps, kTile columns of B)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;

  float acc = 0;
  for (int k0 = 0; k0 < g.k; k0 += kTile) {
    a_tile[ty][tx] = g.a_or_zero(row, k0 + tx);
    b_tile[ty][tx] = g.b_or_zero(k0 + ty, col);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kTile; ++k) acc += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();  // all threads have read them
  }
  g.store_inside(row, col, acc);
}

template <int kTile>
struct smem {
  using grid = kzoo::tile_grid<kTile, kTile>;
  static constexpr auto kernel = smem_kernel<kTile>;
};

}  // namespace

KZOO_PLUGIN("smem", "Square tiles in shared memory, one thread per element of C",
            kzoo::variant<smem<8>>("8x8", "64 threads, each element loaded is used 8 times"),
            kzoo::variant<smem<16>>("16x16", "256 threads, each element loaded is used 16 times"),
            kzoo::variant<smem<32>>("32x32", "1024 threads, each element loaded is used 32 times"));
