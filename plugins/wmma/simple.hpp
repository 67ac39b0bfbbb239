#pragma once
// The tensor cores, and nothing else new: the square tiles of plugins/smem, but where a thread
// computed one element a warp now computes 16 x 16 of them, one fragment.

#include <kzoo/plugin.hpp>

#include "fragments.hpp"

namespace tensor {

inline constexpr int kSimpleTile = 64;   // rows and columns of C per block
inline constexpr int kSimpleDepth = 32;  // along K
inline constexpr int kPadding = 8;       // elements between rows: else they share banks
inline constexpr int kSimpleThreads =
    32 * (kSimpleTile / kFragment) * (kSimpleTile / kFragment);  // one warp for each fragment

template <class T>
__global__ void __launch_bounds__(kSimpleThreads) simple_kernel(kzoo::gemm<T> g) {
  __shared__ __align__(32) T a_tile[kSimpleTile][kSimpleDepth + kPadding];
  __shared__ __align__(32) T b_tile[kSimpleDepth][kSimpleTile + kPadding];
  __shared__ __align__(32) float c_tile[kSimpleTile][kSimpleTile];
  const int thread = threadIdx.x, warp = thread / 32;
  const int warp_row = warp / (kSimpleTile / kFragment) * kFragment;
  const int warp_col = warp % (kSimpleTile / kFragment) * kFragment;
  const int row0 = blockIdx.y * kSimpleTile, col0 = blockIdx.x * kSimpleTile;

  fragment_a<T> a;
  fragment_b<T> b;
  fragment_c<T> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < g.k; k0 += kSimpleDepth) {
    for (int i = thread; i < kSimpleTile * kSimpleDepth; i += kSimpleThreads) {
      const int row = i / kSimpleDepth, k = i % kSimpleDepth;
      a_tile[row][k] = g.a_or_zero(row0 + row, k0 + k);
    }
    for (int i = thread; i < kSimpleDepth * kSimpleTile; i += kSimpleThreads) {
      const int k = i / kSimpleTile, col = i % kSimpleTile;
      b_tile[k][col] = g.b_or_zero(k0 + k, col0 + col);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSimpleDepth; k += tensor_input<T>::kDepth) {
      kzoo::load_from_shared(a, &a_tile[warp_row][k], kSimpleDepth + kPadding);
      kzoo::load_from_shared(b, &b_tile[k][warp_col], kSimpleTile + kPadding);
      round_inputs(a);
      round_inputs(b);
      wmma::mma_sync(sum, a, b, sum);
    }
    __syncthreads();
  }

  // Which element of a fragment a thread holds is not specified, so rows and columns, and with them
  // the edges of C, are only known again in shared memory.
  wmma::store_matrix_sync(&c_tile[warp_row][warp_col], sum, kSimpleTile, wmma::mem_row_major);
  __syncthreads();
  for (int i = thread; i < kSimpleTile * kSimpleTile; i += kSimpleThreads) {
    const int row = i / kSimpleTile, col = i % kSimpleTile;
    g.store_inside(row0 + row, col0 + col, c_tile[row][col]);
  }
}

struct simple {
  using types = kzoo::types<float, __half, __nv_bfloat16>;
  template <class T>
  static constexpr kzoo_precision precision_of = input_precision<T>;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return kzoo::grid_y_objection(p.m, kSimpleTile);
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const dim3 grid(kzoo::ceil_div(g.n, kSimpleTile), kzoo::ceil_div(g.m, kSimpleTile));
    kzoo::launch({.grid = grid,
                  .block = dim3(kSimpleThreads),
                  .max_threads = kSimpleThreads,
                  .stream = stream},
                 simple_kernel<T>, g);
  }
};

}  // namespace tensor
