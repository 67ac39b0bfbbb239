// 16-byte accesses everywhere. Against register_tiles: quads of A and B come from global memory
// with one load each; A's tile is transposed on the way into shared memory, so that the rows a
// thread needs at step k are neighbours there too; and a thread's outputs are a solid patch, so
// that its values of A and B are read, and its sums stored, four at a time.

#include <common/layout.hpp>
#include <common/tile_feed.hpp>

namespace {

template <class S, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm) float4_kernel(kzoo::gemm<float> g) {
  using layout = common::plain<S>;
  __shared__ __align__(16) float a_tile[layout::kSize], b_tile[S::kBK * S::kBN];
  const common::place<S> p;
  const int row0 = p.ty * S::kTM,
            col0 = p.tx * S::kTN;  // of the thread's patch in the block's tile

  float sum[S::kTM][S::kTN] = {};
  common::tile_feed<S, kWhole> feed(g, p);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    feed.fetch(k0);
    feed.template put<layout>(a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; i += 4) {
        common::unpack(common::load_quad(&a_tile[layout::at(k, row0 + i)]), &a[i]);
      }
#pragma unroll
      for (int j = 0; j < S::kTN; j += 4) {
        common::unpack(common::load_quad(&b_tile[k * S::kBN + col0 + j]), &b[j]);
      }
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) {
      common::store_sums<kWhole>(g, p.row0 + row0 + i, p.col0 + col0 + j, &sum[i][j]);
    }
  }
}

template <class S>
using float4_tiles = common::tiled_variant<S, float4_kernel<S, true>, float4_kernel<S, false>>;

}  // namespace

KZOO_PLUGIN(
    "float4", "Tiles fetched, read and stored 16 bytes at a time, A transposed on the way",
    kzoo::variant<float4_tiles<common::tiling<64, 64, 16, 4, 4>>>("64x64x16_4x4",
                                                                  "256 threads, 16 outputs each"),
    kzoo::variant<float4_tiles<common::tiling<128, 128, 8, 8, 8>>>("128x128x8_8x8",
                                                                   "256 threads, 64 outputs each"));
