// The order of the multiply-adds between the registers of a step, and nothing else. Each must fetch
// three operands; one that the multiply-add before it had in the same place comes from a small
// cache instead of a register bank. Products of four steps, one sum after the other (inner), of one
// step, row after row (outer), and the same with every second row backwards (serpentine).

#include <common/layout.hpp>
#include <common/outer_product.hpp>
#include <common/spread.hpp>
#include <common/tile_feed.hpp>

namespace {

enum class order { inner, outer, serpentine };

template <class S, order kOrder, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    outer_product_kernel(kzoo::gemm<float> g) {
  using layout = common::swizzled<S>;
  constexpr int kSteps = kOrder == order::inner ? 4 : 1;  // along K, in registers at once
  __shared__ __align__(16) float a_tile[layout::kSize], b_tile[S::kBK * S::kBN];
  const common::place<S> p;

  float sum[S::kTM][S::kTN] = {};
  common::tile_feed<S, kWhole> feed(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    feed.fetch(k0);
    feed.template put<layout>(a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::kBK; k += kSteps) {
      float a[kSteps][S::kTM], b[kSteps][S::kTN];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        common::read_fragments<S, layout>(a_tile, b_tile, p, k + s, a[s], b[s]);
      }
      if constexpr (kOrder == order::serpentine) {
        common::outer_product(a[0], b[0], sum);
      } else {
#pragma unroll
        for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
          for (int j = 0; j < S::kTN; ++j) {
#pragma unroll
            for (int s = 0; s < kSteps; ++s) sum[i][j] += a[s][i] * b[s][j];
          }
        }
      }
    }
    __syncthreads();
  }
  common::store_spread<S, kWhole>(g, p, sum);
}

using tiles = common::tiling<128, 128, 8, 8, 8>;

template <order kOrder>
using outer_product = common::tiled_variant<tiles, outer_product_kernel<tiles, kOrder, true>,
                                            outer_product_kernel<tiles, kOrder, false>>;

}  // namespace

KZOO_PLUGIN("outer_product", "The order of the multiply-adds between a thread's registers",
            kzoo::variant<outer_product<order::inner>>("inner", "each sum four steps at a time"),
            kzoo::variant<outer_product<order::outer>>("outer", "each step for all sums, by rows"),
            kzoo::variant<outer_product<order::serpentine>>(
                "serpentine", "the same, every second row backwards"));
