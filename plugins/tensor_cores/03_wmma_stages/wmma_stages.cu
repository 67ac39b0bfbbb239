// Stages. k tiles arrive by asynchronous copies of 16 bytes, kStages - 1 ahead of their
// multiplication, in stages of shared memory that are used in turn.
//
//   stage   0         1         2         3           (kStages = 4)
//           reading   arriving  arriving  loading     multiply k tile 0, start to load 3
//           loading   reading   arriving  arriving    multiply k tile 1, start to load 4

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/vector_variant.hpp>
#include <tensor_cores/common/wmma_tile.hpp>

namespace wmma_tiles {

// kAligned: rows of A and B start and end at multiples of 16 bytes. Otherwise copies are of single
// elements, through registers.
template <class G, class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    wmma_stages_kernel(G g, int tile_rows, int tile_cols) {
  using E = typename G::element;
  using a_tile = typename Tile::a_tile;
  using b_tile = typename Tile::b_tile;
  auto* stages = kzoo::dynamic_shared<E>();  // kStages of (BM, BK) of A and (BK, BN) of B
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  const auto load = [&](int k_tile) {
    if (k_tile < k_tiles) {
      constexpr int kWidth = kAligned ? 8 : 1;
      auto* stage = stages + k_tile % Tile::kStages * Tile::kStage;
      common::copy_tile<a_tile, Tile::kThreads, kWidth>(common::a_of(g), stage, row0,
                                                        k_tile * Tile::kBK);
      common::copy_tile<b_tile, Tile::kThreads, kWidth>(common::b_of(g), stage + a_tile::kElements,
                                                        k_tile * Tile::kBK, col0);
    }
    kzoo::commit_group();
  };
  for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) load(k_tile);

  accumulators<Tile> acc;  // (WM, WN) of a warp
  fill_zero<Tile>(acc);
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<Tile::kStages - 2>();  // all but the youngest kStages - 2 have arrived
    __syncthreads();  // this k tile is complete, and all warps have read the one before it
    load(k_tile + Tile::kStages - 1);
    const E* stage = stages + k_tile % Tile::kStages * Tile::kStage;
#pragma unroll
    for (int k = 0; k < Tile::kBK; k += kFragment) {
      fragments<E, Tile> set;  // (WM, 16) of A and (16, WN) of B
      set.load(stage, k);
      set.multiply(acc);
    }
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the stages are free
  store<Tile>(g, acc, stages, row0, col0);
}

template <class Tile>
struct traits {
  using tiling = Tile;
  static constexpr std::size_t kBytes = Tile::kBytes;
  template <class G, bool kAligned>
  static constexpr auto kernel = wmma_stages_kernel<G, Tile, kAligned>;
};
template <class Tile>
using variant = common::vector_variant<traits<Tile>, common::from_sm75>;

}  // namespace wmma_tiles

using wmma_tiles::tiling;

KZOO_PLUGIN("wmma_stages", "Stages of k tiles, which arrive by asynchronous copies",
            kzoo::variant<wmma_tiles::variant<tiling<128, 64, 32, 64, 32, 2, 4>>>(
                "128x64x32_64x32", "4 warps, 4 stages; for matrices with few tiles"),
            kzoo::variant<wmma_tiles::variant<tiling<128, 128, 32, 64, 64, 2, 3>>>(
                "128x128x32_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<wmma_tiles::variant<tiling<128, 256, 32, 64, 64, 1, 4>>>(
                "128x256x32_64x64", "8 warps, 4 stages; for large matrices"));
