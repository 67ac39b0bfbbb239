// Two sets of fragments in registers: while step k is multiplied, the fragments of step k + 1 are
// on their way from shared memory.

#include <fp32/common/fragments.hpp>
#include <fp32/common/layout.hpp>
#include <fp32/common/outer_product.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

template <class S, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    latency_hidden_kernel(kzoo::gemm<float> g) {
  using layout = common::swizzled<S>;
  __shared__ __align__(16) float a_tile[layout::kSize], b_tile[S::kBK * S::kBN];
  const common::thread_coords<S> p;

  float acc[S::kTM][S::kTN] = {};
  common::tile_loader<S, kAligned> loader(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    loader.load_global(k0);
    loader.template store_shared<layout>(a_tile, b_tile);
    __syncthreads();  // the tiles are complete
    float a[2][S::kTM], b[2][S::kTN];
    common::read_fragments<layout>(a_tile, b_tile, p, 0, a[0], b[0]);
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      const int now = k % 2, next = (k + 1) % 2;
      if (k + 1 < S::kBK) {
        common::read_fragments<layout>(a_tile, b_tile, p, k + 1, a[next], b[next]);
      }
      common::outer_product(a[now], b[now], acc);
    }
    __syncthreads();  // all threads have read them
  }
  common::store_tile<kAligned>(g, p, acc);
}

template <int BM, int BN, int BK, int TM, int TN>
struct tiles {
  using types = kzoo::types<float>;
  using grid = common::tiling<BM, BN, BK, TM, TN>;
  template <bool kAligned>
  static constexpr auto kernel = latency_hidden_kernel<grid, kAligned>;
};

}  // namespace

KZOO_PLUGIN("latency_hidden", "The next step's fragments are read while this step's are multiplied",
            kzoo::variant<tiles<128, 128, 8, 8, 8>>("128x128x8_8x8",
                                                    "256 threads, 8 steps per tile"),
            kzoo::variant<tiles<128, 128, 16, 8, 8>>("128x128x16_8x8", "16 steps per tile"));
