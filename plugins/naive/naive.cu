// One thread per element of C, as the first kernel of every tutorial has it. threadIdx.x walks down
// the rows, so the 32 threads of a warp read 32 different rows of A and write 32 different rows
// of C: each access is its own memory transaction.

#include <kzoo/plugin.hpp>

namespace {

template <class T>
__global__ void naive_kernel(kzoo::gemm<T> g) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= g.m || col >= g.n) return;
  kzoo::accumulator_t<T> sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);
}

template <unsigned kBlock>
struct naive {
  using types = kzoo::types<float, int>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.n, kBlock);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.m, kBlock), kzoo::ceil_div(g.n, kBlock));
    kzoo::launch({.grid = grid, .block = dim3(kBlock, kBlock), .stream = stream}, naive_kernel<T>,
                 g);
  }
};

}  // namespace

KZOO_PLUGIN("naive", "One thread per element of C, threads of a warp on different rows",
            kzoo::variant<naive<8>>("8x8", "64 threads per block"),
            kzoo::variant<naive<16>>("16x16", "256 threads per block"),
            kzoo::variant<naive<32>>("32x32", "1024 threads per block, as the sources print it"));
