// Two sets of fragments: while one k step is multiplied, the fragments of the next are loaded, also
// across the barrier between two k tiles.
//
//   global memory  --copy_async-->  stages  --load_from_shared-->  fragments  --mma_sync-->  acc
//                    kStages k tiles ahead               one k step ahead

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/vector_variant.hpp>
#include <tensor_cores/common/wmma_tile.hpp>

namespace wmma_tiles {

// kAligned: rows of A and B start and end at multiples of 16 bytes. Otherwise copies are of single
// elements, through registers.
template <class G, class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    wmma_kernel(G g, int tile_rows, int tile_cols) {
  using E = typename G::element;
  using a_tile = typename Tile::a_tile;
  using b_tile = typename Tile::b_tile;
  auto* stages = kzoo::dynamic_shared<E>();  // kStages of (BM, BK) of A and (BK, BN) of B
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  constexpr int kSteps = Tile::kBK / kFragment;  // of a k tile
  static_assert(kSteps % 2 == 0, "two sets of fragments take turns");
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
  for (int k_tile = 0; k_tile < Tile::kStages; ++k_tile) load(k_tile);

  accumulators<Tile> acc;  // (WM, WN) of a warp
  fill_zero<Tile>(acc);
  fragments<E, Tile> sets[2];             // (WM, 16) of A and (16, WN) of B, each
  kzoo::wait_group<Tile::kStages - 1>();  // all but the youngest kStages - 1 have arrived
  __syncthreads();                        // k tile 0 is complete
  sets[0].load(stages, 0);
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + k_tile % Tile::kStages * Tile::kStage;
    const E* next_stage = stages + (k_tile + 1) % Tile::kStages * Tile::kStage;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) {
        sets[(step + 1) % 2].load(stage, (step + 1) * kFragment);
      } else {
        kzoo::wait_group<Tile::kStages - 2>();
        __syncthreads();  // the next k tile is complete, and all warps have read this one
        sets[0].load(next_stage, 0);
        load(k_tile + Tile::kStages);  // where this one was
      }
      sets[step % 2].multiply(acc);
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
  static constexpr auto kernel = wmma_kernel<G, Tile, kAligned>;
};
template <class Tile>
using variant = common::vector_variant<traits<Tile>, common::from_sm75>;

}  // namespace wmma_tiles

using wmma_tiles::tiling;

KZOO_PLUGIN("wmma", "Two sets of WMMA fragments: the next are loaded during the MMAs",
            kzoo::variant<wmma_tiles::variant<tiling<128, 64, 32, 64, 32, 2, 4>>>(
                "128x64x32_64x32", "4 warps, 4 stages; for matrices with few tiles"),
            kzoo::variant<wmma_tiles::variant<tiling<128, 128, 32, 64, 64, 2, 3>>>(
                "128x128x32_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<wmma_tiles::variant<tiling<128, 256, 32, 64, 64, 1, 4>>>(
                "128x256x32_64x64", "8 warps, 4 stages; for large matrices"));
