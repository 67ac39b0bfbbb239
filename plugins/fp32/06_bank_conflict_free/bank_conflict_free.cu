// float4 without bank conflicts. Reads: a thread's elements of C are float4s interleaved with those
// of other threads, not one patch (common/thread_coords.hpp). Writes: A's tile is padded or
// swizzled, so that a warp's transposed stores go to different banks (common/layout.hpp).

#include <fp32/common/fragments.hpp>
#include <fp32/common/layout.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

template <class S, class Layout, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    bank_conflict_free_kernel(kzoo::gemm<float> g) {
  __shared__ __align__(16) float a_tile[Layout::kSize], b_tile[S::kBK * S::kBN];
  const common::thread_coords<S> p;

  float acc[S::kTM][S::kTN] = {};
  common::tile_loader<S, kAligned> loader(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    loader.load_global(k0);
    loader.template store_shared<Layout>(a_tile, b_tile);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
      common::read_fragments<Layout>(a_tile, b_tile, p, k, a, b);
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();  // all threads have read them
  }
  common::store_tile<kAligned>(g, p, acc);
}

template <template <class> class Layout>
struct tiles {
  using types = kzoo::types<float>;
  using grid = common::tiling<128, 128, 8, 8, 8>;
  template <bool kAligned>
  static constexpr auto kernel = bank_conflict_free_kernel<grid, Layout<grid>, kAligned>;
};

}  // namespace

KZOO_PLUGIN("bank_conflict_free", "float4 without bank conflicts in shared memory",
            kzoo::variant<tiles<common::plain>>("128x128x8_plain", "conflicts in A's stores only"),
            kzoo::variant<tiles<common::padded>>("128x128x8_padded", "A's tile is padded"),
            kzoo::variant<tiles<common::swizzled>>("128x128x8_swizzled", "A's tile is swizzled"));
