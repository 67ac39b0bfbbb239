// A warp's tile of 64 x 64 in 16 fragments, so that each fragment of A and B is multiplied four
// times, and not once. Loads and barriers are those of wmma_simple.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/wmma_tile.hpp>

namespace wmma_tiles {

template <class G, class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    wmma_warp_tiles_kernel(G g, int tile_rows, int tile_cols) {
  using E = typename G::element;
  using a_tile = typename Tile::a_tile;
  using b_tile = typename Tile::b_tile;
  auto* stage = kzoo::dynamic_shared<E>();  // (BM, BK) of A, then (BK, BN) of B
  auto* const b_stage = stage + a_tile::kElements;
  // Blocks that run at the same time cover a compact part of C, and share rows and columns in L2.
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int thread = threadIdx.x, row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;

  accumulators<Tile> acc;  // (WM, WN) of a warp
  fill_zero<Tile>(acc);
  for (int k0 = 0; k0 < g.k; k0 += Tile::kBK) {
    for (int i = thread; i < Tile::kBM * Tile::kBK; i += Tile::kThreads) {
      const int row = i / Tile::kBK, k = i % Tile::kBK;
      stage[a_tile::offset(row, k)] = g.a_or_zero(row0 + row, k0 + k);
    }
    for (int i = thread; i < Tile::kBK * Tile::kBN; i += Tile::kThreads) {
      const int k = i / Tile::kBN, col = i % Tile::kBN;
      b_stage[b_tile::offset(k, col)] = g.b_or_zero(k0 + k, col0 + col);
    }
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < Tile::kBK; k += kFragment) {
      fragments<E, Tile> set;  // (WM, 16) of A and (16, WN) of B
      set.load(stage, k);      // equivalent to load_from_shared of each fragment
      set.multiply(acc);       // and to mma_sync of each pair
    }
    __syncthreads();  // all warps have read them
  }
  store<Tile>(g, acc, stage, row0, col0);
}

template <class Tile>
struct variant : common::from_sm75 {
  using types = kzoo::types<__half, __nv_bfloat16>;

  template <class G>
  void run(const G& g, kzoo::stream_t stream) const {
    common::launch_tiles<Tile>(wmma_warp_tiles_kernel<G, Tile>, g, Tile::kThreads, Tile::kBytes,
                               stream, g);
  }
};

}  // namespace wmma_tiles

using wmma_tiles::tiling;

KZOO_PLUGIN("wmma_warp_tiles", "64 x 64 of C per warp in WMMA fragments",
            kzoo::variant<wmma_tiles::variant<tiling<128, 128, 32, 64, 64, 2>>>(
                "128x128x32_64x64", "4 warps, plain loads, two barriers per k tile"));
