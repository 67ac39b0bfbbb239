// Two sets of fragments in registers: while one is multiplied, that of the next k is on its way
// from shared memory. The compiler hid this latency before, as the README shows.

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/fragments.hpp>
#include <fp32/common/tile_loader.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    latency_hidden_kernel(kzoo::gemm<float> g) {
  using Layout = common::swizzled<Tile>;
  __shared__ __align__(16) float a_tile[Layout::kSize];          // (BK, BM) at Layout::at(k, row)
  __shared__ __align__(16) float b_tile[Tile::kBK * Tile::kBN];  // (BK, BN)
  const common::thread_coords<Tile> coords;  // equivalent to tx, ty, thread, row0, col0

  common::tile_loader<Tile, Layout, kAligned> loader(g, coords.thread, coords.row0, coords.col0);
  float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    loader.load_global(k0);
    loader.store_shared(a_tile, b_tile);
    __syncthreads();  // the tiles are complete
    float a[2][Tile::kTM], b[2][Tile::kTN];
    // Moved to common/fragments.hpp, unchanged: outer_product's loops of read_vec4.
    common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, 0, a[0], b[0]);
#pragma unroll
    for (int k = 0; k < Tile::kBK; ++k) {
      const int now = k % 2, next = (k + 1) % 2;
      if (k + 1 < Tile::kBK) {
        common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, k + 1, a[next], b[next]);
      }
      common::outer_product(a[now], b[now], acc);  // equivalent to outer_product's serpentine
    }
    __syncthreads();  // all threads have read them
  }
  common::store_tile<kAligned>(g, coords, acc);  // equivalent to outer_product's loop of store_c
}

struct variant {
  using Tile = common::tiling<128, 128, 8, 8, 8>;
  using grid = Tile;
  template <bool kAligned>
  static constexpr auto kernel_for = latency_hidden_kernel<Tile, kAligned>;

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    Tile::launch(Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("latency_hidden",
            "The next k step's fragments are read while the current ones are multiplied",
            kzoo::variant<variant>("128x128x8_8x8", "256 threads, 8 steps per tile"));
