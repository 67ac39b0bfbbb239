// Register tiles without shared memory: each thread computes TM x TN elements of C and reads what
// it needs of A and B straight from global memory, where each value serves TN or TM FMAs. The
// variants differ in which elements a thread computes, neighbours or interleaved ones, and in how
// wide its loads are.

#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace {

constexpr int kThreads = 16;  // along each side of a block

// Scalar loads. kStrided: a thread's elements of C are a contiguous TM x TN patch, so that
// neighbouring threads read at a stride of TN. Otherwise they are 16 rows and columns apart, and
// neighbouring threads read neighbouring columns.
template <int TM, int TN, bool kStrided>
__global__ void __launch_bounds__(kThreads* kThreads) scalar_kernel(kzoo::gemm<float> g) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * (kThreads * TM) + (kStrided ? ty * TM : ty);
  const int col = blockIdx.x * (kThreads * TN) + (kStrided ? tx * TN : tx);
  constexpr int kStep = kStrided ? 1 : kThreads;

  float acc[TM][TN] = {};
  for (int k = 0; k < g.k; ++k) {
    float a[TM], b[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) a[i] = g.a_or_zero(row + i * kStep, k);
#pragma unroll
    for (int j = 0; j < TN; ++j) b[j] = g.b_or_zero(k, col + j * kStep);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) g.store_inside(row + i * kStep, col + j * kStep, acc[i][j]);
  }
}

// 16-byte loads: four steps along K of each row of A, and four columns of each row of B.
template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    vec4_kernel(kzoo::gemm<float> g) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * Tile::kBM + ty * Tile::kTM,
            col = blockIdx.x * Tile::kBN + tx * Tile::kTN;

  float acc[Tile::kTM][Tile::kTN] = {};
  for (int k0 = 0; k0 < g.k; k0 += 4) {
    float a[Tile::kTM][4], b[4][Tile::kTN];
#pragma unroll
    for (int i = 0; i < Tile::kTM; ++i) {
      common::unpack(common::load_a<kAligned>(g, row + i, k0), a[i]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int j = 0; j < Tile::kTN; j += 4) {
        common::unpack(common::load_b<kAligned>(g, k0 + k, col + j), &b[k][j]);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kTN; ++j) acc[i][j] += a[i][k] * b[k][j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kTN; j += 4) {
      common::store_c<kAligned>(g, row + i, col + j, &acc[i][j]);
    }
  }
}

template <int TM, int TN, bool kStrided>
struct scalar {
  using grid = kzoo::tile_grid<kThreads * TM, kThreads * TN, kThreads, kThreads>;
  static constexpr auto kernel = scalar_kernel<TM, TN, kStrided>;
};

template <int TM, int TN>
struct vec4 {
  // There are no tiles in shared memory; 16 is what K must be a multiple of for the aligned kernel.
  using grid = common::tiling<kThreads * TM, kThreads * TN, 16, TM, TN>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    grid::launch(grid::aligned(g) ? vec4_kernel<grid, true> : vec4_kernel<grid, false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("register_gmem", "TM x TN accumulators per thread, fed straight from global memory",
            kzoo::variant<scalar<4, 4, true>>(
                "4x4_strided", "contiguous patches: neighbouring threads 4 columns apart"),
            kzoo::variant<scalar<4, 4, false>>("4x4", "neighbouring threads, neighbouring columns"),
            kzoo::variant<vec4<4, 4>>("4x4_float4", "contiguous patches, 16-byte loads"),
            kzoo::variant<vec4<8, 8>>("8x8_float4", "the same with 64 outputs per thread"));
