// One thread per element of C, as in the first kernel of every tutorial. threadIdx.x counts rows,
// so the 32 threads of a warp read 32 different rows of A and write 32 different rows of C: each
// access is a memory transaction of its own.

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

// The blocks of 8x8 and 32x32 take floats and integers only.
template <int kBlock, class Types = kzoo::types<float, int>>
struct naive {
  using types = Types;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  using grid = kzoo::transposed_tile_grid<kBlock, kBlock>;
  template <class Gemm>
  static constexpr auto kernel = naive_kernel<Gemm>;
};

}  // namespace

KZOO_PLUGIN("naive", "One thread per element of C, threads of a warp on different rows",
            kzoo::variant<naive<8>>("8x8", "64 threads per block"),
            kzoo::variant<naive<16, kzoo::every_type>>("16x16", "256 threads per block"),
            kzoo::variant<naive<32>>("32x32", "1024 threads per block, as in the sources"));
