// coalesced for weights of 4 bits: B is quantised, A and C are not. Where the problem has scales, a
// sum of products with unscaled weights is scaled once for each block of K.

#include <kzoo/int4.hpp>
#include <kzoo/plugin.hpp>

namespace {

template <class Gemm>
__device__ float scale_of(const Gemm& g, int row, int k, int col) {
  if constexpr (kzoo::block_scaled<Gemm>) return g.scale(row, k, col);
  return 1.0f;
}

template <class Gemm>
__global__ void naive_kernel(Gemm g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k;) {
    const float scale = scale_of(g, row, k, col);
    float of_block = 0;
    for (; k < g.k && scale_of(g, row, k, col) == scale; ++k)
      of_block += static_cast<float>(g.a_at(row, k)) * static_cast<float>(kzoo::weight(g, k, col));
    acc += scale * of_block;
  }
  g.store(row, col, acc);
}

struct naive {
  static constexpr bool block_scales = true;
  using types = kzoo::types<kzoo::mixed<__nv_bfloat16, kzoo::int4x2, __nv_bfloat16>,
                            kzoo::mixed<__half, kzoo::int4x2, __half>>;
  using layouts = kzoo::every_layout;
  using grid = kzoo::tile_grid<16, 16>;
  template <class Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

}  // namespace

KZOO_PLUGIN("weights", "coalesced for a B of 4 bits: bf16 or fp16 times int4",
            kzoo::variant<naive>("naive", "one thread per element of C, a sum for each block"));
