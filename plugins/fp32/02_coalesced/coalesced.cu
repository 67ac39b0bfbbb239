// One thread per element of C, as in naive, but threadIdx.x counts columns. The 32 threads of a
// warp read neighbouring elements of B, share one element of A, and write neighbouring elements of
// C: a few memory transactions per access instead of one per thread.

#include <kzoo/plugin.hpp>

namespace {

template <class T, kzoo::layout kLayout>
__global__ void coalesced_kernel(kzoo::gemm<T, kLayout> g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  kzoo::accumulator_t<T> acc = 0;
  for (int k = 0; k < g.k; ++k) acc += g.a_at(row, k) * g.b_at(k, col);
  g.store(row, col, acc);
}

template <int kBlock>
struct coalesced {
  using types = kzoo::types<float, int>;
  using layouts = kzoo::every_layout;
  using grid = kzoo::tile_grid<kBlock, kBlock>;
  template <class T, kzoo::layout kLayout>
  static constexpr auto kernel = coalesced_kernel<T, kLayout>;
};

}  // namespace

KZOO_PLUGIN("coalesced", "One thread per element of C, threads of a warp on neighbouring columns",
            kzoo::variant<coalesced<8>>("8x8", "64 threads per block"),
            kzoo::variant<coalesced<16>>("16x16", "256 threads per block"),
            kzoo::variant<coalesced<32>>("32x32", "1024 threads per block, one row of C per warp"));
