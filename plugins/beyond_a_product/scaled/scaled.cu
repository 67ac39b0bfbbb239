// coalesced for matrices that are scaled block by block: of fp8, whose elements have a range too
// narrow for rows that differ in magnitude.
//
// Products of unscaled elements are summed while their scales stay the same, and the sum is scaled:
// what fp8 kernels on tensor cores do every 128 steps of K.

#include <kzoo/plugin.hpp>

namespace {

template <kzoo::block_scaled Gemm>
__global__ void naive_kernel(Gemm g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k;) {
    const float scale = g.scale(row, k, col);
    float of_block = 0;
    for (; k < g.k && g.scale(row, k, col) == scale; ++k)
      of_block += g.product(g.a_at(row, k), g.b_at(k, col));
    acc += scale * of_block;
  }
  g.store(row, col, acc);
}

struct naive {
  static constexpr bool block_scales = true;
  using types = kzoo::types<kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                            kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                            kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;
  using layouts = kzoo::every_layout;
  using grid = kzoo::tile_grid<16, 16>;
  template <kzoo::block_scaled Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

}  // namespace

KZOO_PLUGIN("scaled", "coalesced for fp8 matrices with a scale for each block of their elements",
            kzoo::variant<naive>("naive", "one thread per element of C, a sum for each block"));
