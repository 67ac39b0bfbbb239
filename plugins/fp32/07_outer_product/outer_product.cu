// The order of a step's FMAs, and nothing else. An FMA reads three registers; an operand that the
// previous FMA had in the same place comes from a small reuse cache instead of a register bank.
// inner: four steps of one accumulator, then the next accumulator. outer: one step of all
// accumulators, row by row. serpentine: the same with every second row backwards.

#include <fp32/common/fragments.hpp>
#include <fp32/common/layout.hpp>
#include <fp32/common/outer_product.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

enum class order { inner, outer, serpentine };

template <class S, order kOrder, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    outer_product_kernel(kzoo::gemm<float> g) {
  using layout = common::swizzled<S>;
  constexpr int kSteps = kOrder == order::inner ? 4 : 1;  // along K, in registers at once
  __shared__ __align__(16) float a_tile[layout::kSize], b_tile[S::kBK * S::kBN];
  const common::thread_coords<S> p;

  float acc[S::kTM][S::kTN] = {};
  common::tile_loader<S, kAligned> loader(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    loader.load_global(k0);
    loader.template store_shared<layout>(a_tile, b_tile);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; k += kSteps) {
      float a[kSteps][S::kTM], b[kSteps][S::kTN];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        common::read_fragments<layout>(a_tile, b_tile, p, k + s, a[s], b[s]);
      }
      if constexpr (kOrder == order::serpentine) {
        common::outer_product(a[0], b[0], acc);
      } else {
#pragma unroll
        for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
          for (int j = 0; j < S::kTN; ++j) {
#pragma unroll
            for (int s = 0; s < kSteps; ++s) acc[i][j] += a[s][i] * b[s][j];
          }
        }
      }
    }
    __syncthreads();  // all threads have read them
  }
  common::store_tile<kAligned>(g, p, acc);
}

template <order kOrder>
struct tiles {
  using types = kzoo::types<float>;
  using grid = common::tiling<128, 128, 8, 8, 8>;
  template <bool kAligned>
  static constexpr auto kernel = outer_product_kernel<grid, kOrder, kAligned>;
};

}  // namespace

KZOO_PLUGIN("outer_product", "The order of the FMAs between a thread's registers",
            kzoo::variant<tiles<order::inner>>("inner", "four steps of one accumulator at a time"),
            kzoo::variant<tiles<order::outer>>("outer", "one step of all accumulators, by rows"),
            kzoo::variant<tiles<order::serpentine>>("serpentine", "every second row backwards"));
