// The ladder's first and third step (naive, smem) for everything that a problem may have: all
// element types, layouts and batches. What the fp32 steps leave out stands here, once.
//
// A kernel for all of them is a template over its argument, a kzoo::gemm or a kzoo::gemm_batch, of
// which the grid's z axis counts the products. g.product() multiplies in the accumulators' type.

#include <kzoo/plugin.hpp>

#include "smem.hpp"

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
  static constexpr auto kernel = every_type::smem_kernel<16, Gemm>;
};

}  // namespace

KZOO_PLUGIN("every_type", "naive and smem for all element types, layouts and batches",
            kzoo::variant<naive>("naive", "one thread per element of C, every type"),
            kzoo::variant<smem>("smem", "square tiles in shared memory, most types"));
