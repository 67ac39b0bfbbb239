// Two stages of tiles in shared memory. While a block multiplies the tiles of one stage, the next
// ones are loaded into registers, and stored to the other stage afterwards. That hides the latency
// of global memory. One barrier per tile is enough: the stage that is written was last read before
// the previous barrier.

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/fragments.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    double_buffer_kernel(kzoo::gemm<float> g) {
  using Layout = common::padded<Tile>;  // its addresses take fewer registers than a swizzle's
  __shared__ __align__(16) float a_tile[2][Layout::kSize];          // stages of (BK, BM)
  __shared__ __align__(16) float b_tile[2][Tile::kBK * Tile::kBN];  // stages of (BK, BN)
  const common::thread_coords<Tile> coords;

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

template <int BM, int BN, int BK, int TM, int TN>
struct variant {
  using Tile = common::tiling<BM, BN, BK, TM, TN>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = double_buffer_kernel<Tile, kAligned>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("double_buffer",
            "Two stages of tiles: the next are loaded while the current ones are multiplied",
            kzoo::variant<variant<128, 128, 8, 8, 8>>("128x128x8_8x8", "8 steps per barrier"),
            kzoo::variant<variant<128, 128, 16, 8, 8>>("128x128x16_8x8", "16 steps per barrier"));
