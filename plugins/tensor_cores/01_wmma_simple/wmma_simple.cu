// The tensor cores, and nothing else new: as in the fp32 ladder's smem, tiles of A and B in shared
// memory, but where a thread computed one element of C, a warp now computes one fragment, 16 x 16
// elements, with CUDA's C++ interface to tensor cores (WMMA).

#include <kzoo/plugin.hpp>
#include <kzoo/wmma.hpp>
#include <tensor_cores/common/from_sm75.hpp>

namespace wmma_tiles {

namespace wmma = nvcuda::wmma;

constexpr int kFragment = 16;  // rows and columns of a fragment
constexpr int kTile = 64;      // rows and columns of C per block
constexpr int kBK = 32;        // steps along K in a tile of A or B
constexpr int kPadding = 8;    // elements after each row, against bank conflicts
constexpr int kWarpsN = kTile / kFragment,
              kThreads = 32 * kWarpsN * kWarpsN;  // a warp for each fragment

// G is a kzoo::gemm<E>, and E __half or __nv_bfloat16.
template <class G>
__global__ void __launch_bounds__(kThreads) wmma_simple_kernel(G g) {
  using E = typename G::element;
  __shared__ __align__(32) E a_tile[kTile][kBK + kPadding];  // (BM, BK)
  __shared__ __align__(32) E b_tile[kBK][kTile + kPadding];  // (BK, BN)
  __shared__ __align__(32) float c_tile[kTile][kTile];       // (BM, BN)
  const int thread = threadIdx.x, warp = thread / 32;
  const int warp_row = warp / kWarpsN * kFragment, warp_col = warp % kWarpsN * kFragment;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;

  wmma::fragment<wmma::matrix_a, 16, 16, 16, E, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, E, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < g.k; k0 += kBK) {
    for (int i = thread; i < kTile * kBK; i += kThreads)
      a_tile[i / kBK][i % kBK] = g.a_or_zero(row0 + i / kBK, k0 + i % kBK);
    for (int i = thread; i < kBK * kTile; i += kThreads)
      b_tile[i / kTile][i % kTile] = g.b_or_zero(k0 + i / kTile, col0 + i % kTile);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kBK; k += kFragment) {
      kzoo::load_from_shared(a, &a_tile[warp_row][k], kBK + kPadding);
      kzoo::load_from_shared(b, &b_tile[k][warp_col], kTile + kPadding);
      wmma::mma_sync(acc, a, b, acc);  // acc += a b
    }
    __syncthreads();  // all warps have read them
  }

  // WMMA does not say which elements of a fragment a thread holds. Rows and columns, and with them
  // the edges of C, are known again in shared memory.
  wmma::store_matrix_sync(&c_tile[warp_row][warp_col], acc, kTile, wmma::mem_row_major);
  __syncthreads();
  for (int i = thread; i < kTile * kTile; i += kThreads)
    g.store_inside(row0 + i / kTile, col0 + i % kTile, c_tile[i / kTile][i % kTile]);
}

struct variant : common::from_sm75 {
  using types = kzoo::types<__half, __nv_bfloat16>;

  using grid = kzoo::tile_grid<kTile, kTile, kThreads, 1>;
  template <class G>
  static constexpr auto kernel = wmma_simple_kernel<G>;
};

}  // namespace wmma_tiles

KZOO_PLUGIN("wmma_simple", "One WMMA fragment of C per warp",
            kzoo::variant<wmma_tiles::variant>("64x64x32_16x16",
                                               "16 warps, plain loads, two barriers per k tile"));
