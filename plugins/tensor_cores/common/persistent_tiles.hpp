#pragma once
// The tiles of C for persistent blocks, as many as run at the same time: each goes through tiles
// until there are none left.

#include <kzoo/plugin.hpp>
#include <kzoo/threadblock_swizzle.hpp>

namespace tile_scheduler {

// A block's tiles are number blockIdx.x, and from there on every gridDim.x-th.
template <class Tile>
struct persistent_tiles {
  int rows, cols, k_tiles;  // rows and columns of tiles

  template <class G>
  static persistent_tiles of(const G& g) {
    return {kzoo::ceil_div(g.m, Tile::kBM), kzoo::ceil_div(g.n, Tile::kBN),
            kzoo::ceil_div(g.k, Tile::kBK)};
  }
  __host__ __device__ int count() const { return rows * cols; }

  // Calls visit(row, col), where in C the tile begins, for each tile of the calling block.
  template <class Visit>
  __device__ __forceinline__ void for_each_of_block(Visit visit) const {
    for (int i = blockIdx.x; i < count(); i += gridDim.x) {
      const auto tile = kzoo::threadblock_swizzle(i, rows, cols, 8);
      visit(tile.row * Tile::kBM, tile.col * Tile::kBN);
    }
  }
};

}  // namespace tile_scheduler
