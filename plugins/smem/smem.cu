// Square tiles of A and B staged in shared memory. A block computes a kTile x kTile tile of C and
// walks along K in steps of kTile: its threads fetch one element of each tile, wait for each other,
// and then read each of them kTile times from shared memory. Past the edges the tiles hold zeros.

#include <kzoo/plugin.hpp>

namespace {

template <class T, int kTile>
__global__ void smem_kernel(kzoo::gemm<T> g) {
  __shared__ T a_tile[kTile][kTile];
  __shared__ T b_tile[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  kzoo::accumulator_t<T> sum = 0;
  for (int k0 = 0; k0 < g.k; k0 += kTile) {
    a_tile[ty][tx] = g.a_or_zero(row, k0 + tx);
    b_tile[ty][tx] = g.b_or_zero(k0 + ty, col);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
    __syncthreads();  // and nobody needs them any more
  }
  g.store_inside(row, col, sum);
}

template <int kTile>
struct smem {
  using types = kzoo::types<float, int>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, kTile);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, kTile), kzoo::ceil_div(g.m, kTile));
    kzoo::launch({.grid = grid, .block = dim3(kTile, kTile), .stream = stream},
                 smem_kernel<T, kTile>, g);
  }
};

}  // namespace

KZOO_PLUGIN("smem", "Square tiles in shared memory, one thread per element of C",
            kzoo::variant<smem<8>>("8x8", "64 threads, each element fetched is used 8 times"),
            kzoo::variant<smem<16>>("16x16", "256 threads, each element fetched is used 16 times"),
            kzoo::variant<smem<32>>("32x32",
                                    "1024 threads, each element fetched is used 32 times"));
