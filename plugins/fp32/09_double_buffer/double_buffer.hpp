#pragma once
// Two stages of tiles in shared memory. While a block multiplies the tiles of one stage, the next
// ones are loaded into registers, and stored to the other stage afterwards. That hides the latency
// of global memory. One barrier per tile is enough: the stage that is written was last read before
// the previous barrier.

#include <fp32/common/fragments.hpp>
#include <fp32/common/layout.hpp>
#include <fp32/common/outer_product.hpp>
#include <fp32/common/tile_loader.hpp>

namespace double_buffer {

// Coords: which elements of the block's tile are the running thread's. warp_tiles has other ones.
template <class S, class Coords, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    double_buffer_kernel(kzoo::gemm<float> g) {
  using layout = common::padded<S>;  // its addresses take fewer registers than a swizzle's
  __shared__ __align__(16) float a_tile[2][layout::kSize], b_tile[2][S::kBK * S::kBN];
  const Coords p;

  float acc[S::kTM][S::kTN] = {};
  common::tile_loader<S, kAligned> loader(g, p);
  loader.load_global(0);
  loader.template store_shared<layout>(a_tile[0], b_tile[0]);
  __syncthreads();  // the first tiles are complete
  for (int k0 = 0; k0 < g.k;) {
    // Two tiles per iteration make `stage` a constant. An odd number of tiles ends in the middle.
#pragma unroll
    for (int stage = 0; stage < 2; ++stage) {
      const int next_k0 = k0 + S::kBK;
      if (next_k0 < g.k) loader.load_global(next_k0);
      float a[2][S::kTM], b[2][S::kTN];
      common::read_fragments<layout>(a_tile[stage], b_tile[stage], p, 0, a[0], b[0]);
#pragma unroll
      for (int k = 0; k < S::kBK; ++k) {
        const int now = k % 2, next = (k + 1) % 2;
        if (k + 1 < S::kBK) {
          common::read_fragments<layout>(a_tile[stage], b_tile[stage], p, k + 1, a[next], b[next]);
        }
        common::outer_product(a[now], b[now], acc);
      }
      k0 = next_k0;
      if (k0 >= g.k) break;
      loader.template store_shared<layout>(a_tile[stage ^ 1], b_tile[stage ^ 1]);
      __syncthreads();  // the next tiles are complete, and all threads have read these
    }
  }
  common::store_tile<kAligned>(g, p, acc);
}

template <class S, class Coords>
struct variant {
  using types = kzoo::types<float>;
  using grid = S;
  template <bool kAligned>
  static constexpr auto kernel = double_buffer_kernel<S, Coords, kAligned>;
};

}  // namespace double_buffer
