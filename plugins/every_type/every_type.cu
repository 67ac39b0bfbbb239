// The ladder's first and third step (naive, smem) for everything that a problem may have: all
// element types, layouts and batches. What the fp32 steps leave out stands here, once.
//
// A kernel for all of them is a template over its argument, a kzoo::gemm or a kzoo::gemm_batch, of
// which the grid's z axis counts the products. g.product() multiplies in the accumulators' type.

#include <kzoo/plugin.hpp>

namespace {

template <class Gemm>
__global__ void naive_kernel(Gemm batch) {
  const auto g = batch[blockIdx.z];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= g.m || col >= g.n) return;
  typename Gemm::accumulator_type acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.product(g.a_at(row, k), g.b_at(k, col));
  g.store(row, col, acc);
}

template <int kTile, class Gemm>
__global__ void smem_kernel(Gemm batch) {
  __shared__ typename Gemm::a_type a_tile[kTile][kTile];  // (BM, BK)
  __shared__ typename Gemm::b_type b_tile[kTile][kTile];  // (BK, BN)
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

struct everything {
  using types = kzoo::every_type;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
};

struct naive : everything {
  using grid = kzoo::transposed_tile_grid<16, 16>;
  template <class Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

// Not quite all types, for the time that compilers take.
struct smem : everything {
  using types =
      kzoo::types<float, int, kzoo::to<__half, float>, kzoo::to<__nv_bfloat16, float>, double,
                  kzoo::to<signed char, int>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>>;
  using grid = kzoo::tile_grid<16, 16>;
  template <class Gemm>
  static constexpr auto kernel = smem_kernel<16, Gemm>;
};

}  // namespace

KZOO_PLUGIN("every_type", "naive and smem for all element types, layouts and batches",
            kzoo::variant<naive>("naive", "one thread per element of C, every type"),
            kzoo::variant<smem>("smem", "square tiles in shared memory, most types"));
