// A third level of tiles: block, warp, thread. What changes is which elements of the block's tile
// are a thread's: its float4s lie between those of its warp, in a tile of their own, and no longer
// between those of the whole block. The rest is double_buffer.

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/fragments.hpp>
#include <fp32/common/tile_loader.hpp>
#include <fp32/common/warp_tiling.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    warp_tiles_kernel(kzoo::gemm<float> g) {
  using Layout = common::padded<Tile>;  // its addresses take fewer registers than a swizzle's
  __shared__ __align__(16) float a_tile[2][Layout::kSize];          // stages of (BK, BM)
  __shared__ __align__(16) float b_tile[2][Tile::kBK * Tile::kBN];  // stages of (BK, BN)
  const common::warp_thread_coords<Tile> coords;  // new: row(i) and col(j) are in the warp's tile

  common::tile_loader<Tile, Layout, kAligned> loader(g, coords.thread, coords.row0, coords.col0);
  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
  loader.load_global(0);
  loader.store_shared(a_tile[0], b_tile[0]);
  __syncthreads();  // the first tiles are complete
  for (int k0 = 0; k0 < g.k;) {
    // Two tiles per iteration, unrolled, make `stage` a constant. With an odd number of tiles the
    // loop ends in the middle of one.
#pragma unroll
    for (int stage = 0; stage < 2; ++stage) {
      const int next_k0 = k0 + Tile::kBK;
      if (next_k0 < g.k) loader.load_global(next_k0);
      float a[2][Tile::kTM], b[2][Tile::kTN];
      common::read_fragments<Tile, Layout>(a_tile[stage], b_tile[stage], coords, 0, a[0], b[0]);
#pragma unroll
      for (int k = 0; k < Tile::kBK; ++k) {
        const int now = k % 2, next = (k + 1) % 2;
        if (k + 1 < Tile::kBK) {
          common::read_fragments<Tile, Layout>(a_tile[stage], b_tile[stage], coords, k + 1, a[next],
                                               b[next]);
        }
        common::outer_product(a[now], b[now], acc);
      }
      k0 = next_k0;
      if (k0 >= g.k) break;
      loader.store_shared(a_tile[stage ^ 1], b_tile[stage ^ 1]);
      __syncthreads();  // the next tiles are complete, and all threads have read these
    }
  }
  common::store_tile<kAligned>(g, coords, acc);
}

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN>
struct variant {
  using Tile = common::warp_tiling<BM, BN, BK, WM, WN, TM, TN>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = warp_tiles_kernel<Tile, kAligned>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("warp_tiles", "A third level of tiles: block, warp, thread",
            kzoo::variant<variant<128, 128, 16, 64, 32, 8, 8>>(
                "128x128x16_64x32_8x8", "64 accumulators per thread, two blocks per SM"),
            kzoo::variant<variant<128, 128, 16, 32, 64, 8, 8>>(
                "128x128x16_32x64_8x8", "the same with warp tiles wider than high"),
            kzoo::variant<variant<128, 256, 8, 64, 64, 16, 8>>(
                "128x256x8_64x64_16x8", "128 accumulators per thread, one block per SM"));
