// One thread per element of C, as in naive, but threadIdx.x counts columns. In blocks of 32 x 32
// the threads of a warp read one element of A (1 sector) and 32 neighbours of B (4 sectors), and
// write 32 neighbours of C.

#include <kzoo/plugin.hpp>

namespace {

__global__ void coalesced_kernel(kzoo::gemm<float> g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.a_at(row, k) * g.b_at(k, col);
  g.store(row, col, acc);  // C = alpha acc + beta C
}

template <int kBlock>
struct coalesced {
  using grid = kzoo::tile_grid<kBlock, kBlock>;
  static constexpr auto kernel = coalesced_kernel;
};

}  // namespace

KZOO_PLUGIN("coalesced", "One thread per element of C, threads of a warp on neighbouring columns",
            kzoo::variant<coalesced<8>>("8x8", "64 threads per block"),
            kzoo::variant<coalesced<16>>("16x16", "256 threads per block"),
            kzoo::variant<coalesced<32>>("32x32", "1024 threads per block, one row of C per warp"));
