// Tiles of A and B in shared memory. A block computes a kTile x kTile tile of C and walks along K
// in steps of kTile: each of its threads loads one element of each tile, and after a barrier all of
// them read each element kTile times from shared memory. Past the edges the tiles hold zeros.

#include <kzoo/plugin.hpp>

namespace {

template <class Gemm, int kTile>
__global__ void smem_kernel(Gemm batch) {
  __shared__ typename Gemm::a_type a_tile[kTile][kTile];
  __shared__ typename Gemm::b_type b_tile[kTile][kTile];
  const auto g = batch[blockIdx.z];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;

  typename Gemm::accumulator_type acc = 0;
  for (int k0 = 0; k0 < g.k; k0 += kTile) {
    a_tile[ty][tx] = g.a_or_zero(row, k0 + tx);
    b_tile[ty][tx] = g.b_or_zero(k0 + ty, col);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kTile; ++k) acc += g.product(a_tile[ty][k], b_tile[k][tx]);
    __syncthreads();  // all threads have read them
  }
  g.store_inside(row, col, acc);
}

// The smallest and the largest tile take floats and integers only.
using more_types =
    kzoo::types<float, int, kzoo::to<__half, float>, kzoo::to<__nv_bfloat16, float>, double,
                kzoo::to<signed char, int>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>>;

template <int kTile, class Types = kzoo::types<float, int>>
struct smem {
  using types = Types;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  using grid = kzoo::tile_grid<kTile, kTile>;
  template <class Gemm>
  static constexpr auto kernel = smem_kernel<Gemm, kTile>;
};

}  // namespace

KZOO_PLUGIN("smem", "Square tiles in shared memory, one thread per element of C",
            kzoo::variant<smem<8>>("8x8", "64 threads, each element loaded is used 8 times"),
            kzoo::variant<smem<16, more_types>>(
                "16x16", "256 threads, each element loaded is used 16 times"),
            kzoo::variant<smem<32>>("32x32", "1024 threads, each element loaded is used 32 times"));
