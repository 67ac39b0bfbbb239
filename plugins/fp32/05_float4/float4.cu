// 16-byte accesses. Each thread loads one float4 of each tile. A's tile is stored transposed, so
// that the values of A that a thread needs for one k are neighbours in shared memory too. A
// thread's elements of C are a contiguous TM x TN patch, read and written four at a time: we give
// up interleaving for one step.

#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace {

// kAligned: rows can be read 16 bytes at a time, and no tile hangs over an edge. The other
// instantiation is predicated: it moves one element at a time, and only those inside.
template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    float4_kernel(kzoo::gemm<float> g) {
  __shared__ __align__(16) float a_tile[Tile::kBK][Tile::kBM];  // (BK, BM): transposed
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
    // Aligned: by pointers that walk along K, without index arithmetic; equivalent to
    // a4 = *(const float4*)a_from. Predicated: by indices, which can be tested; equivalent to
    // a4 = {g.a_or_zero(row0 + a_row, k0 + a_k), ... (row0 + a_row, k0 + a_k + 3)}.
    const float4 a4 =
        kAligned ? common::load_vec4(a_from) : common::load_a<false>(g, row0 + a_row, k0 + a_k);
    const float4 b4 =
        kAligned ? common::load_vec4(b_from) : common::load_b<false>(g, k0 + b_k, col0 + b_col);
    if constexpr (kAligned) a_from += Tile::kBK, b_from += Tile::kBK * g.ldb;
    a_tile[a_k][a_row] = a4.x;
    a_tile[a_k + 1][a_row] = a4.y;
    a_tile[a_k + 2][a_row] = a4.z;
    a_tile[a_k + 3][a_row] = a4.w;
    common::store_vec4(&b_tile[b_k][b_col], b4);  // equivalent to *(float4*)&b_tile[...] = b4
    __syncthreads();                              // the tiles are complete
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      float a[Tile::kTM], b[Tile::kTN];
#pragma unroll
      for (int i = 0; i < Tile::kTM; i += 4) {
        // Equivalent to a[i] = a_tile[k][...], ..., a[i + 3] = a_tile[k][... + 3] in one read.
        common::read_vec4(&a_tile[k][ty * Tile::kTM + i], &a[i]);
      }
#pragma unroll
      for (int j = 0; j < Tile::kTN; j += 4) {
        common::read_vec4(&b_tile[k][tx * Tile::kTN + j], &b[j]);
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
      const int row = row0 + ty * Tile::kTM + i, col = col0 + tx * Tile::kTN + j;
      common::store_c<kAligned>(g, row, col, &acc[i][j]);  // C = alpha acc + beta C, four times
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN>
struct variant {
  using Tile = common::tiling<BM, BN, BK, TM, TN>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = float4_kernel<Tile, kAligned>;

  // run, not kernel: which instantiation it is depends on the problem.
  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("float4", "Tiles loaded, read and stored 16 bytes at a time, A's tile transposed",
            kzoo::variant<variant<64, 64, 16, 4, 4>>("64x64x16_4x4",
                                                     "256 threads, 16 outputs each"),
            kzoo::variant<variant<128, 128, 8, 8, 8>>("128x128x8_8x8", "256 threads, 64 outputs"));
