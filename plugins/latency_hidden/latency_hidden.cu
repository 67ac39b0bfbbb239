// Two sets of fragments in registers: while step k is multiplied, the values of step k + 1 are on
// their way from shared memory.

#include <common/layout.hpp>
#include <common/outer_product.hpp>
#include <common/spread.hpp>
#include <common/tile_feed.hpp>

namespace {

template <class S, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    latency_hidden_kernel(kzoo::gemm<float> g) {
  using layout = common::swizzled<S>;
  __shared__ __align__(16) float a_tile[layout::kSize], b_tile[S::kBK * S::kBN];
  const common::place<S> p;

  float sum[S::kTM][S::kTN] = {};
  common::tile_feed<S, kWhole> feed(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    feed.fetch(k0);
    feed.template put<layout>(a_tile, b_tile);
    __syncthreads();
    float a[2][S::kTM], b[2][S::kTN];
    common::read_fragments<S, layout>(a_tile, b_tile, p, 0, a[0], b[0]);
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      const int now = k % 2, next = (k + 1) % 2;
      if (k + 1 < S::kBK) {
        common::read_fragments<S, layout>(a_tile, b_tile, p, k + 1, a[next], b[next]);
      }
      common::outer_product(a[now], b[now], sum);
    }
    __syncthreads();
  }
  common::store_spread<S, kWhole>(g, p, sum);
}

template <class S>
using latency_hidden =
    common::tiled_variant<S, latency_hidden_kernel<S, true>, latency_hidden_kernel<S, false>>;

}  // namespace

KZOO_PLUGIN("latency_hidden",
            "The next step's registers are loaded while this one's are multiplied",
            kzoo::variant<latency_hidden<common::tiling<128, 128, 8, 8, 8>>>(
                "128x128x8_8x8", "256 threads, tiles of 8 steps"),
            kzoo::variant<latency_hidden<common::tiling<128, 128, 16, 8, 8>>>(
                "128x128x16_8x8", "256 threads, tiles of 16 steps"));
