#pragma once
// The tensor cores, and nothing else new: as in plugins/smem, tiles of A and B in shared memory,
// but where a thread computed one element of C, a warp now computes one fragment, 16 x 16 elements.

#include <kzoo/plugin.hpp>

#include "fragments.hpp"

namespace tensor {

inline constexpr int kSimpleTile = 64;  // rows and columns of C per block
inline constexpr int kSimpleBK = 32;    // steps along K in a tile of A or B
inline constexpr int kPadding = 8;      // elements after each row, against bank conflicts
inline constexpr int kSimpleThreads =
    32 * (kSimpleTile / kFragment) * (kSimpleTile / kFragment);  // one warp for each fragment

template <class T>
__global__ void __launch_bounds__(kSimpleThreads) simple_kernel(kzoo::gemm<T> g) {
  __shared__ __align__(32) T a_tile[kSimpleTile][kSimpleBK + kPadding];
  __shared__ __align__(32) T b_tile[kSimpleBK][kSimpleTile + kPadding];
  __shared__ __align__(32) float c_tile[kSimpleTile][kSimpleTile];
  const int thread = threadIdx.x, warp = thread / 32;
  const int warp_row = warp / (kSimpleTile / kFragment) * kFragment;
  const int warp_col = warp % (kSimpleTile / kFragment) * kFragment;
  const int row0 = blockIdx.y * kSimpleTile, col0 = blockIdx.x * kSimpleTile;

  fragment_a<T, true> a;
  fragment_b<T, false> b;
  fragment_c<T> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < g.k; k0 += kSimpleBK) {
    for (int i = thread; i < kSimpleTile * kSimpleBK; i += kSimpleThreads) {
      const int row = i / kSimpleBK, k = i % kSimpleBK;
      a_tile[row][k] = g.a_or_zero(row0 + row, k0 + k);
    }
    for (int i = thread; i < kSimpleBK * kSimpleTile; i += kSimpleThreads) {
      const int k = i / kSimpleTile, col = i % kSimpleTile;
      b_tile[k][col] = g.b_or_zero(k0 + k, col0 + col);
    }
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kSimpleBK; k += tensor_input<T>::kFragmentK) {
      kzoo::load_from_shared(a, &a_tile[warp_row][k], kSimpleBK + kPadding);
      kzoo::load_from_shared(b, &b_tile[k][warp_col], kSimpleTile + kPadding);
      round_inputs(a);
      round_inputs(b);
      wmma::mma_sync(acc, a, b, acc);
    }
    __syncthreads();  // all warps have read them
  }

  // WMMA does not say which elements of a fragment a thread holds. Rows and columns, and with them
  // the edges of C, are known again in shared memory.
  wmma::store_matrix_sync(&c_tile[warp_row][warp_col], acc, kSimpleTile, wmma::mem_row_major);
  __syncthreads();
  for (int i = thread; i < kSimpleTile * kSimpleTile; i += kSimpleThreads) {
    const int row = i / kSimpleTile, col = i % kSimpleTile;
    g.store_inside(row0 + row, col0 + col, c_tile[row][col]);
  }
}

struct simple {
  using types = kzoo::types<float, __half, __nv_bfloat16>;
  template <class T>
  static constexpr kzoo_precision precision_of =
      std::is_same_v<T, float> ? KZOO_COMPUTE_TF32 : kzoo::element_traits<T>::precision;
  static constexpr unsigned compute_capability = 80;

  using grid = kzoo::tile_grid<kSimpleTile, kSimpleTile, kSimpleThreads, 1>;
  template <class T>
  static constexpr auto kernel = simple_kernel<T>;
};

}  // namespace tensor
