#pragma once
// The tiles of C for persistent blocks, as many as run at the same time: each goes through tiles
// until there are none left.

#include <kzoo/plugin.hpp>
#include <kzoo/threadblock_swizzle.hpp>

namespace tile_scheduler {

// With kClusterM = 1, a block's tiles are number blockIdx.x, and from there on every gridDim.x-th.
// In clusters (from the step clusters on) the kClusterM blocks of one compute that many tiles, one
// below the other: a cluster tile, and it is cluster tiles that are numbered.
template <class Tile, int kClusterM = 1>
struct persistent_tiles {
  int rows, cols, k_tiles;  // rows and columns of cluster tiles

  template <class G>
  static persistent_tiles of(const G& g) {
    return {kzoo::ceil_div(g.m, kClusterM * Tile::kBM), kzoo::ceil_div(g.n, Tile::kBN),
            kzoo::ceil_div(g.k, Tile::kBK)};
  }
  __host__ __device__ int count() const { return rows * cols; }  // cluster tiles

  // Calls visit(row, col), where in C the tile begins, for each tile of the calling block.
  template <class Visit>
  __device__ __forceinline__ void for_each_of_block(Visit visit) const {
    const int rank = static_cast<int>(blockIdx.x) % kClusterM;
    for (int i = blockIdx.x / kClusterM; i < count(); i += gridDim.x / kClusterM) {
      const auto tile = kzoo::threadblock_swizzle(i, rows, cols, 8);
      visit((kClusterM * tile.row + rank) * Tile::kBM, tile.col * Tile::kBN);
    }
  }
};

}  // namespace tile_scheduler
