// 16-byte accesses. Each thread loads one float4 of each tile. A's tile is stored transposed, so
// that the values of A that a thread needs in step k are neighbours in shared memory too. A
// thread's elements of C are a contiguous TM x TN patch, read and written four at a time.

#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace {

template <class S, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm) float4_kernel(kzoo::gemm<float> g) {
  __shared__ __align__(16) float a_tile[S::kBK][S::kBM];  // transposed
  __shared__ __align__(16) float b_tile[S::kBK][S::kBN];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * S::kThreadsX + tx;
  const int row0 = blockIdx.y * S::kBM, col0 = blockIdx.x * S::kBN;
  // The one float4 of each tile that this thread loads.
  const int a_row = thread / (S::kBK / 4), a_k = thread % (S::kBK / 4) * 4;
  const int b_k = thread / (S::kBN / 4), b_col = thread % (S::kBN / 4) * 4;
  static_assert(S::kBM * S::kBK == 4 * S::kThreads && S::kBK * S::kBN == 4 * S::kThreads);

  float acc[S::kTM][S::kTN] = {};
  const float *a_from = &g.a_at(row0 + a_row, a_k), *b_from = &g.b_at(b_k, col0 + b_col);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK, a_from += S::kBK, b_from += S::kBK * g.ldb) {
    const float4 a4 = kAligned ? *reinterpret_cast<const float4*>(a_from)
                               : common::load_a<false>(g, row0 + a_row, k0 + a_k);
    const float4 b4 = kAligned ? *reinterpret_cast<const float4*>(b_from)
                               : common::load_b<false>(g, k0 + b_k, col0 + b_col);
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = b4;
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; i += 4) common::read_vec4(&a_tile[k][ty * S::kTM + i], &a[i]);
#pragma unroll
      for (int j = 0; j < S::kTN; j += 4) common::read_vec4(&b_tile[k][tx * S::kTN + j], &b[j]);
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // all threads have read them
  }
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) {
      common::store_c<kAligned>(g, row0 + ty * S::kTM + i, col0 + tx * S::kTN + j, &acc[i][j]);
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN>
struct tiles {
  using types = kzoo::types<float>;
  using grid = common::tiling<BM, BN, BK, TM, TN>;
  template <bool kAligned>
  static constexpr auto kernel = float4_kernel<grid, kAligned>;
};

}  // namespace

KZOO_PLUGIN("float4", "Tiles loaded, read and stored 16 bytes at a time, A's tile transposed",
            kzoo::variant<tiles<64, 64, 16, 4, 4>>("64x64x16_4x4", "256 threads, 16 outputs each"),
            kzoo::variant<tiles<128, 128, 8, 8, 8>>("128x128x8_8x8", "256 threads, 64 outputs"));
