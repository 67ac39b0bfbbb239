// coalesced and smem for groups of rows, each with a B of its own, as a mixture of experts has
// them. The kernels are those of a batch (every_type): the grid's z axis counts the groups, and a
// block past the rows of its group has nothing to do. Where groups begin is read on the device.

#include <kzoo/plugin.hpp>

#include <beyond_a_product/every_type/smem.hpp>

namespace {

template <class Gemm>
__global__ void naive_kernel(Gemm groups) {
  const auto g = groups[blockIdx.z];  // the rows of one group, and its B
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.product(g.a_at(row, k), g.b_at(k, col));
  g.store(row, col, acc);
}

struct grouped {
  static constexpr bool groups = true;
  using types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                            kzoo::to<__nv_bfloat16, float>>;
  using layouts = kzoo::layouts<kzoo::layout::nn, kzoo::layout::nt>;
  using grid = kzoo::tile_grid<16, 16>;
};

struct naive : grouped {
  template <class Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

struct smem : grouped {
  template <class Gemm>
  static constexpr auto kernel = every_type::smem_kernel<16, Gemm>;
};

}  // namespace

KZOO_PLUGIN("grouped", "coalesced and smem for groups of rows, each with a B of its own",
            kzoo::variant<naive>("naive", "one thread per element of C"),
            kzoo::variant<smem>("smem", "square tiles in shared memory"));
