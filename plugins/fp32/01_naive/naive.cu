// One thread per element of C, as in the first kernel of every tutorial. threadIdx.x counts rows:
// in blocks of 32 x 32 the threads of a warp read 32 rows of A, and write 32 rows of C, 32 sectors
// each.

#include <kzoo/plugin.hpp>

namespace {

__global__ void naive_kernel(kzoo::gemm<float> g) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.a_at(row, k) * g.b_at(k, col);
  g.store(row, col, acc);  // C = alpha acc + beta C
}

template <int kBlock>
struct naive {
  using grid = kzoo::transposed_tile_grid<kBlock, kBlock>;  // blockIdx.x counts rows, too
  static constexpr auto kernel = naive_kernel;
};

}  // namespace

KZOO_PLUGIN("naive", "One thread per element of C, threads of a warp on different rows",
            kzoo::variant<naive<8>>("8x8", "64 threads per block"),
            kzoo::variant<naive<16>>("16x16", "256 threads per block"),
            kzoo::variant<naive<32>>("32x32", "1024 threads per block, as in the tutorials"));
