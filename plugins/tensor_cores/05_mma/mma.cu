// mma.sync, whose operands lie in known registers of known lanes: ldmatrix brings them there from
// swizzled tiles, and C goes straight from the accumulators to memory.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/vector_variant.hpp>

#include "mma_tile.hpp"

namespace mma {

// kAligned: rows of A and B start and end at multiples of 16 bytes. Otherwise copies are of single
// elements, through registers.
template <class G, class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    mma_kernel(G g, int tile_rows, int tile_cols) {
  using E = typename G::element;
  using a_tile = typename Tile::template a_tile<E>;
  using b_tile = typename Tile::template b_tile<E>;
  auto* stages = kzoo::dynamic_shared<E>();  // kStages of (BM, BK) of A and (BK, BN) of B
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  constexpr int kSteps = Tile::kBK / kInstructionK;  // of a k tile
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
  for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) load(k_tile);

  accumulators<Tile> acc = {};            // (WM, WN) of a warp
  fragments<E, Tile> sets[2];             // (WM, 16) of A and (16, WN) of B, each
  kzoo::wait_group<Tile::kStages - 2>();  // all but the youngest kStages - 2 have arrived
  __syncthreads();                        // k tile 0 is complete
  sets[0].load(stages, 0);
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    load(k_tile + Tile::kStages - 1);  // where k tile k_tile - 1 was, which all warps have read
    const E* stage = stages + k_tile % Tile::kStages * Tile::kStage;
    const E* next_stage = stages + (k_tile + 1) % Tile::kStages * Tile::kStage;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) {
        sets[(step + 1) % 2].load(stage, (step + 1) * kInstructionK);
      } else {
        kzoo::wait_group<Tile::kStages - 2>();
        __syncthreads();  // the next k tile is complete, and all warps have read this one
        sets[0].load(next_stage, 0);
      }
      sets[step % 2].multiply(acc);
    }
  }
  kzoo::wait_group<0>();
  store<Tile>(g, acc, row0, col0);
}

template <class Tile>
struct traits {
  using tiling = Tile;
  static constexpr std::size_t kBytes = Tile::kBytes;
  template <class G, bool kAligned>
  static constexpr auto kernel = mma_kernel<G, Tile, kAligned>;
};
template <class Tile>
using variant = common::vector_variant<traits<Tile>, common::from_sm80>;

}  // namespace mma

using mma::tiling;

KZOO_PLUGIN("mma", "Tensor cores through mma.sync and ldmatrix",
            kzoo::variant<mma::variant<tiling<128, 64, 64, 32, 3, 2>>>(
                "128x64x64_64x32", "4 warps, 3 stages; for matrices with few tiles"),
            kzoo::variant<mma::variant<tiling<128, 128, 64, 64, 3, 2>>>(
                "128x128x64_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<mma::variant<tiling<128, 256, 64, 64, 4, 1>>>(
                "128x256x64_64x64", "8 warps, 4 stages; for large matrices"));
