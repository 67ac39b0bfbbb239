#pragma once
// Two stages of tiles in shared memory. While the block multiplies the tiles of one stage, those of
// the next are on their way: they are fetched into registers first, are needed there only after the
// last multiply-add, and go to the other stage, which nobody reads by then. So the latency of
// global memory is hidden, and one barrier per tile is enough.

#include <common/layout.hpp>
#include <common/outer_product.hpp>
#include <common/spread.hpp>
#include <common/tile_feed.hpp>

namespace double_buffer {

// `Place` says which of the block's outputs are the running thread's.
template <class S, class Place, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    double_buffer_kernel(kzoo::gemm<float> g) {
  using layout = common::padded<S>;  // its addresses take fewer registers than a swizzle's
  __shared__ __align__(16) float a_tile[2][layout::kSize], b_tile[2][S::kBK * S::kBN];
  const Place p;

  float sum[S::kTM][S::kTN] = {};
  common::tile_feed<S, kWhole> feed(g, p);
  feed.fetch(0);
  feed.template put<layout>(a_tile[0], b_tile[0]);
  __syncthreads();
  for (int k0 = 0; k0 < g.k;) {
    // Unrolled, so that the stage is a constant. An odd number of tiles ends in the middle.
#pragma unroll
    for (int stage = 0; stage < 2; ++stage) {
      const int next_k0 = k0 + S::kBK;
      if (next_k0 < g.k) feed.fetch(next_k0);
      float a[2][S::kTM], b[2][S::kTN];
      common::read_fragments<S, layout>(a_tile[stage], b_tile[stage], p, 0, a[0], b[0]);
#pragma unroll
      for (int k = 0; k < S::kBK; ++k) {
        const int now = k % 2, next = (k + 1) % 2;
        if (k + 1 < S::kBK) {
          common::read_fragments<S, layout>(a_tile[stage], b_tile[stage], p, k + 1, a[next],
                                            b[next]);
        }
        common::outer_product(a[now], b[now], sum);
      }
      k0 = next_k0;
      if (k0 >= g.k) break;
      feed.template put<layout>(a_tile[stage ^ 1], b_tile[stage ^ 1]);
      __syncthreads();
    }
  }
  common::store_spread<S, kWhole>(g, p, sum);
}

template <class S, class Place>
using variant = common::tiled_variant<S, double_buffer_kernel<S, Place, true>,
                                      double_buffer_kernel<S, Place, false>>;

}  // namespace double_buffer
