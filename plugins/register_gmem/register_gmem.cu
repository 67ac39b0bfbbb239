// Register tiles without shared memory: each thread computes TM x TN elements of C and reads what
// it needs of A and B straight from global memory, where each value serves TN or TM multiply-adds.
// Which outputs are a thread's, neighbours or spread out, and how wide its loads are, makes the
// variants.

#include <common/quad.hpp>
#include <common/tiling.hpp>

namespace {

constexpr int kThreads = 16;  // along each side of a block

// Scalar loads. kStrided: a thread's outputs are a solid TM x TN patch, so that neighbouring
// threads read at a stride of TN; otherwise they are 16 rows and columns apart, and neighbouring
// threads read neighbouring columns.
template <class T, int TM, int TN, bool kStrided>
__global__ void __launch_bounds__(kThreads* kThreads) scalar_kernel(kzoo::gemm<T> g) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * (kThreads * TM) + (kStrided ? ty * TM : ty);
  const int col = blockIdx.x * (kThreads * TN) + (kStrided ? tx * TN : tx);
  constexpr int kStep = kStrided ? 1 : kThreads;

  kzoo::accumulator_t<T> sum[TM][TN] = {};
  for (int k = 0; k < g.k; ++k) {
    T a[TM], b[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) a[i] = g.a_or_zero(row + i * kStep, k);
#pragma unroll
    for (int j = 0; j < TN; ++j) b[j] = g.b_or_zero(k, col + j * kStep);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) g.store_inside(row + i * kStep, col + j * kStep, sum[i][j]);
  }
}

// 16-byte loads: four steps along K of each row of A, and four columns of each row of B.
template <class S, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm) quad_kernel(kzoo::gemm<float> g) {
  const common::place<S> p;
  const int row = p.row0 + p.ty * S::kTM, col = p.col0 + p.tx * S::kTN;

  float sum[S::kTM][S::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += 4) {
    float a[S::kTM][4], b[4][S::kTN];
#pragma unroll
    for (int i = 0; i < S::kTM; ++i) {
      common::unpack(common::a_quad<kWhole>(g, row + i, k0), a[i]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int j = 0; j < S::kTN; j += 4) {
        common::unpack(common::b_quad<kWhole>(g, k0 + k, col + j), &b[k][j]);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) sum[i][j] += a[i][k] * b[k][j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) {
      common::store_sums<kWhole>(g, row + i, col + j, &sum[i][j]);
    }
  }
}

template <int TM, int TN, bool kStrided>
struct scalar {
  using types = kzoo::types<float, int>;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, kThreads * TM);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    kzoo::launch(
        {.grid = dim3(kzoo::ceil_div(g.n, kThreads * TN), kzoo::ceil_div(g.m, kThreads * TM)),
         .block = dim3(kThreads, kThreads),
         .max_threads = kThreads * kThreads,
         .stream = stream},
        scalar_kernel<T, TM, TN, kStrided>, g);
  }
};

// There are no tiles in shared memory; 16 is where the kernel without tests ends along K.
template <int TM, int TN, class S = common::tiling<kThreads * TM, kThreads * TN, 16, TM, TN>>
using quads = common::tiled_variant<S, quad_kernel<S, true>, quad_kernel<S, false>>;

}  // namespace

KZOO_PLUGIN("register_gmem", "TM x TN sums per thread, fed straight from global memory",
            kzoo::variant<scalar<4, 4, true>>(
                "4x4_strided", "solid patches: neighbouring threads 4 columns apart"),
            kzoo::variant<scalar<4, 4, false>>("4x4", "neighbouring threads, neighbouring columns"),
            kzoo::variant<quads<4, 4>>("4x4_float4", "solid patches, 16-byte loads"),
            kzoo::variant<quads<8, 8>>("8x8_float4", "the same with 64 outputs per thread"));
