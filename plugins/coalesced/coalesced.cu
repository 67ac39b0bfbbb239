// One thread per element of C, as in naive, but threadIdx.x walks along a row of C. Neighbouring
// threads of a warp then read neighbouring elements of B, share one element of A, and write
// neighbouring elements of C: a few memory transactions where naive has one per thread.

#include <kzoo/plugin.hpp>

namespace {

template <class T>
__global__ void coalesced_kernel(kzoo::gemm<T> g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  kzoo::accumulator_t<T> sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);
}

template <unsigned kBlock>
struct coalesced {
  using types = kzoo::types<float, int>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, kBlock);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, kBlock), kzoo::ceil_div(g.m, kBlock));
    kzoo::launch({.grid = grid, .block = dim3(kBlock, kBlock), .stream = stream},
                 coalesced_kernel<T>, g);
  }
};

}  // namespace

KZOO_PLUGIN("coalesced", "One thread per element of C, threads of a warp on neighbouring columns",
            kzoo::variant<coalesced<8>>("8x8", "64 threads per block"),
            kzoo::variant<coalesced<16>>("16x16", "256 threads per block"),
            kzoo::variant<coalesced<32>>("32x32", "1024 threads per block, a warp to each row"));
