// float4 without bank conflicts. Reads: a thread's float4s of C lie between those of other threads,
// no longer in one patch, so that neighbouring threads read neighbouring float4s. Writes: A's tile
// is padded or swizzled, so that a warp's transposed stores go to different banks.
//
//   columns of C     0..3   4..7   8..11  ...  60..63   64..67  68..71  ...
//   their threads    tx 0   tx 1   tx 2   ...  tx 15    tx 0    tx 1    ...
//                    j = 0 to 3                         j = 4 to 7

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace {

template <class Tile, class Layout, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    bank_conflict_free_kernel(kzoo::gemm<float> g) {
  __shared__ __align__(16) float a_tile[Layout::kSize];         // (BK, BM) at Layout::at(k, row)
  __shared__ __align__(16) float b_tile[Tile::kBK][Tile::kBN];  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * Tile::kThreadsX + tx;
  const int row0 = blockIdx.y * Tile::kBM, col0 = blockIdx.x * Tile::kBN;
  // The one float4 of each tile that this thread loads.
  const int a_row = thread / (Tile::kBK / 4), a_k = thread % (Tile::kBK / 4) * 4;
  const int b_k = thread / (Tile::kBN / 4), b_col = thread % (Tile::kBN / 4) * 4;
  static_assert(Tile::kBM * Tile::kBK == 4 * Tile::kThreads);
  static_assert(Tile::kBK * Tile::kBN == 4 * Tile::kThreads);

  float acc[Tile::kTM][Tile::kTN] = {};              // (TM, TN)
  const float *a_from = nullptr, *b_from = nullptr;  // only the aligned kernel uses them
  if constexpr (kAligned) a_from = &g.a_at(row0 + a_row, a_k), b_from = &g.b_at(b_k, col0 + b_col);
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    const float4 a4 =
        kAligned ? common::load_vec4(a_from) : common::load_a<false>(g, row0 + a_row, k0 + a_k);
    const float4 b4 =
        kAligned ? common::load_vec4(b_from) : common::load_b<false>(g, k0 + b_k, col0 + b_col);
    if constexpr (kAligned) a_from += Tile::kBK, b_from += Tile::kBK * g.ldb;
    a_tile[Layout::at(a_k, a_row)] = a4.x;
    a_tile[Layout::at(a_k + 1, a_row)] = a4.y;
    a_tile[Layout::at(a_k + 2, a_row)] = a4.z;
    a_tile[Layout::at(a_k + 3, a_row)] = a4.w;
    common::store_vec4(&b_tile[b_k][b_col], b4);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      float a[Tile::kTM], b[Tile::kTN];
#pragma unroll
      for (int i = 0; i < Tile::kTM; i += 4) {
        common::read_vec4(&a_tile[Layout::at(k, i * Tile::kThreadsY + ty * 4)], &a[i]);
      }
#pragma unroll
      for (int j = 0; j < Tile::kTN; j += 4) {
        common::read_vec4(&b_tile[k][j * Tile::kThreadsX + tx * 4], &b[j]);
      }
#pragma unroll
      for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kTN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // all threads have read them
  }
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kTN; j += 4) {
      // The row that acc[i] was read for: its float4 begins at i - i % 4.
      const int row = row0 + i / 4 * 4 * Tile::kThreadsY + ty * 4 + i % 4;
      const int col = col0 + j * Tile::kThreadsX + tx * 4;
      common::store_c<kAligned>(g, row, col, &acc[i][j]);  // C = alpha acc + beta C, four times
    }
  }
}

template <template <class> class Layout>
struct variant {
  using Tile = common::tiling<128, 128, 8, 8, 8>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = bank_conflict_free_kernel<Tile, Layout<Tile>, kAligned>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("bank_conflict_free", "float4 without bank conflicts in shared memory",
            kzoo::variant<variant<common::plain>>("128x128x8_plain",
                                                  "conflicts in A's stores only"),
            kzoo::variant<variant<common::padded>>("128x128x8_padded", "A's tile is padded"),
            kzoo::variant<variant<common::swizzled>>("128x128x8_swizzled", "A's tile is swizzled"));
