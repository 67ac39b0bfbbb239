// float4 without its bank conflicts, of which it has two kinds. Reads: a thread's outputs are quads
// from the corners of the block's tile instead of a solid patch (common/spread.hpp). Writes: a
// layout of A's tile in which the transposed quads of a warp fall into different banks, by padding
// or by swizzling (common/layout.hpp).

#include <common/layout.hpp>
#include <common/spread.hpp>
#include <common/tile_feed.hpp>

namespace {

template <class S, class kLayout, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    bank_conflict_free_kernel(kzoo::gemm<float> g) {
  __shared__ __align__(16) float a_tile[kLayout::kSize], b_tile[S::kBK * S::kBN];
  const common::place<S> p;

  float sum[S::kTM][S::kTN] = {};
  common::tile_feed<S, kWhole> feed(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    feed.fetch(k0);
    feed.template put<kLayout>(a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
      common::read_fragments<S, kLayout>(a_tile, b_tile, p, k, a, b);
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
  common::store_spread<S, kWhole>(g, p, sum);
}

using tiles = common::tiling<128, 128, 8, 8, 8>;

template <template <class> class kLayout>
using bank_conflict_free =
    common::tiled_variant<tiles, bank_conflict_free_kernel<tiles, kLayout<tiles>, true>,
                          bank_conflict_free_kernel<tiles, kLayout<tiles>, false>>;

}  // namespace

KZOO_PLUGIN("bank_conflict_free",
            "float4 with shared memory laid out so that no access takes turns",
            kzoo::variant<bank_conflict_free<common::plain>>(
                "128x128x8_plain", "reads without conflicts, transposed writes with them"),
            kzoo::variant<bank_conflict_free<common::padded>>(
                "128x128x8_padded", "four unused words after each step of A's tile"),
            kzoo::variant<bank_conflict_free<common::swizzled>>(
                "128x128x8_swizzled", "rows of A's tile exchanged, no unused words"));
