// coalesced and smem with an epilogue: bias, residual, activations and scales, applied to the
// accumulators before they are stored, so that C is written once.
//
// The kernels are templates over their argument, as every_type's are: here it is a
// kzoo::fused_gemm, whose store() applies the epilogue.

#include <kzoo/plugin.hpp>

#include <beyond_a_product/every_type/smem.hpp>

namespace {

template <class Gemm>
__global__ void naive_kernel(Gemm g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.product(g.a_at(row, k), g.b_at(k, col));
  g.store(row, col, acc);  // g.finish(alpha acc + beta C, row, col)
}

struct fused {
  static constexpr bool epilogues = true;
  using types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                            kzoo::to<__nv_bfloat16, float>>;
  using layouts = kzoo::layouts<kzoo::layout::nn, kzoo::layout::nt>;
};

struct naive : fused {
  using grid = kzoo::tile_grid<16, 16>;
  template <class Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

struct smem : fused {
  using grid = kzoo::tile_grid<16, 16>;
  template <class Gemm>
  static constexpr auto kernel = every_type::smem_kernel<16, Gemm>;
};

}  // namespace

KZOO_PLUGIN("fused", "coalesced and smem with an epilogue: bias, residual, activations, scales",
            kzoo::variant<naive>("naive", "one thread per element of C, and its epilogue"),
            kzoo::variant<smem>("smem", "square tiles in shared memory, and an epilogue"));
