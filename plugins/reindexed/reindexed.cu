// How 1024 threads fetch a 128 x 8 tile of A and an 8 x 128 tile of B, 1024 elements each. By their
// place in the block, 32 x 32, only the threads with a small threadIdx find anything to do: this is
// variant `direct`. Counted in one line and laid out again as 128 x 8 and 8 x 128, each thread
// fetches one element of each tile. The rest is register_tiles.

#include <kzoo/plugin.hpp>

namespace {

constexpr int kBM = 128, kBN = 128, kBK = 8, kTM = 4, kTN = 4;
constexpr int kThreadsX = kBN / kTN, kThreadsY = kBM / kTM, kThreads = kThreadsX * kThreadsY;

template <class T, bool kReindexed>
__global__ void __launch_bounds__(kThreads) reindexed_kernel(kzoo::gemm<T> g) {
  __shared__ T a_tile[kBM][kBK];
  __shared__ T b_tile[kBK][kBN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kThreadsX + tx;
  const int row0 = blockIdx.y * kBM, col0 = blockIdx.x * kBN;

  kzoo::accumulator_t<T> sum[kTM][kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += kBK) {
    if constexpr (kReindexed) {
      const int a_row = thread / kBK, a_k = thread % kBK;
      a_tile[a_row][a_k] = g.a_or_zero(row0 + a_row, k0 + a_k);
      const int b_k = thread / kBN, b_col = thread % kBN;
      b_tile[b_k][b_col] = g.b_or_zero(k0 + b_k, col0 + b_col);
    } else {
      if (tx < kBK) {
#pragma unroll
        for (int row = 0; row < kBM; row += kThreadsY) {
          a_tile[row + ty][tx] = g.a_or_zero(row0 + row + ty, k0 + tx);
        }
      }
      if (ty < kBK) {
#pragma unroll
        for (int col = 0; col < kBN; col += kThreadsX) {
          b_tile[ty][col + tx] = g.b_or_zero(k0 + ty, col0 + col + tx);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kBK; ++k) {
      T a[kTM], b[kTN];
#pragma unroll
      for (int i = 0; i < kTM; ++i) a[i] = a_tile[ty + i * kThreadsY][k];
#pragma unroll
      for (int j = 0; j < kTN; ++j) b[j] = b_tile[k][tx + j * kThreadsX];
#pragma unroll
      for (int i = 0; i < kTM; ++i) {
#pragma unroll
        for (int j = 0; j < kTN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kTM; ++i) {
#pragma unroll
    for (int j = 0; j < kTN; ++j) {
      g.store_inside(row0 + ty + i * kThreadsY, col0 + tx + j * kThreadsX, sum[i][j]);
    }
  }
}

template <bool kReindexed>
struct reindexed {
  using types = kzoo::types<float, int>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, kBM);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    kzoo::launch({.grid = dim3(kzoo::ceil_div(g.n, kBN), kzoo::ceil_div(g.m, kBM)),
                  .block = dim3(kThreadsX, kThreadsY),
                  .max_threads = kThreads,
                  .stream = stream},
                 reindexed_kernel<T, kReindexed>, g);
  }
};

}  // namespace

KZOO_PLUGIN("reindexed", "Threads counted anew for each tile that they fetch",
            kzoo::variant<reindexed<false>>("direct", "a quarter of the threads fetch 4 elements"),
            kzoo::variant<reindexed<true>>("reindexed", "each thread fetches one element"));
