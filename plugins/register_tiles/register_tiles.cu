// Two levels of tiles: a block stages BM x BK of A and BK x BN of B in shared memory, and each
// thread keeps TM x TN sums of the block's BM x BN of C in registers. A step along K reads TM + TN
// values from shared memory for TM * TN multiply-adds. A thread's outputs are not neighbours but
// kThreadsX columns and kThreadsY rows apart; the README draws it and says why.

#include <kzoo/plugin.hpp>

namespace {

template <int BM, int BN, int BK, int TM, int TN>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kThreadsX = BN / TN, kThreadsY = BM / TM, kThreads = kThreadsX * kThreadsY;
  // Holds the largest tile to 128 registers per thread, so that two blocks share a multiprocessor;
  // with 0 the compiler chooses.
  static constexpr int kBlocksPerSm = TM * TN >= 64 ? 2 : 0;
  static_assert(BM % TM == 0 && BN % TN == 0, "threads must cover the tile of C exactly");
  static_assert(BM * BK % kThreads == 0 && BK * BN % kThreads == 0,
                "each thread must fetch the same number of elements");
  static_assert(kThreads <= 1024, "CUDA's limit of threads per block");
};

template <class T, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    register_tiles_kernel(kzoo::gemm<T> g) {
  __shared__ T a_tile[S::kBM][S::kBK];
  __shared__ T b_tile[S::kBK][S::kBN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * S::kThreadsX + tx;
  const int row0 = blockIdx.y * S::kBM, col0 = blockIdx.x * S::kBN;

  kzoo::accumulator_t<T> sum[S::kTM][S::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
#pragma unroll
    for (int first = 0; first < S::kBM * S::kBK; first += S::kThreads) {
      const int row = (first + thread) / S::kBK, k = (first + thread) % S::kBK;
      a_tile[row][k] = g.a_or_zero(row0 + row, k0 + k);
    }
#pragma unroll
    for (int first = 0; first < S::kBK * S::kBN; first += S::kThreads) {
      const int k = (first + thread) / S::kBN, col = (first + thread) % S::kBN;
      b_tile[k][col] = g.b_or_zero(k0 + k, col0 + col);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      T a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) a[i] = a_tile[ty + i * S::kThreadsY][k];
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) b[j] = b_tile[k][tx + j * S::kThreadsX];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) {
      g.store_inside(row0 + ty + i * S::kThreadsY, col0 + tx + j * S::kThreadsX, sum[i][j]);
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN>
struct register_tiles {
  using types = kzoo::types<float, int>;
  using shape = tiling<BM, BN, BK, TM, TN>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, BM);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    kzoo::launch({.grid = dim3(kzoo::ceil_div(g.n, BN), kzoo::ceil_div(g.m, BM)),
                  .block = dim3(shape::kThreadsX, shape::kThreadsY),
                  .max_threads = shape::kThreads,
                  .stream = stream},
                 register_tiles_kernel<T, shape>, g);
  }
};

}  // namespace

KZOO_PLUGIN("register_tiles", "Tiles in shared memory, and TM x TN sums per thread in registers",
            kzoo::variant<register_tiles<32, 32, 8, 2, 2>>(
                "32x32x8_2x2", "256 threads, 4 outputs each: many blocks, for small matrices"),
            kzoo::variant<register_tiles<64, 64, 8, 4, 4>>("64x64x8_4x4",
                                                           "256 threads, 16 outputs each"),
            kzoo::variant<register_tiles<128, 64, 8, 8, 4>>("128x64x8_8x4",
                                                            "256 threads, 32 outputs each"),
            kzoo::variant<register_tiles<128, 128, 8, 4, 4>>(
                "128x128x8_4x4", "1024 threads, one element of each tile fetched by each"),
            kzoo::variant<register_tiles<128, 128, 8, 8, 8>>(
                "128x128x8_8x8", "256 threads, 64 outputs each: most arithmetic per load"));
