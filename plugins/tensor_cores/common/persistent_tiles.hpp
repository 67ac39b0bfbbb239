#pragma once
// The tiles of C for persistent blocks, as many as run at the same time: each goes through tiles
// until there are none left.

#include <kzoo/plugin.hpp>
#include <kzoo/threadblock_swizzle.hpp>

namespace tile_scheduler {

// A cluster of kClusterM blocks computes as many tiles below each other: group number
// `blockIdx.x / kClusterM`, and then every so many groups as there are clusters.
template <class S, int kClusterM = 1>
struct tiles {
  int rows, cols, k_tiles;  // rows and columns of groups

  template <class G>
  static tiles of(const G& g) {
    return {kzoo::ceil_div(g.m, kClusterM * S::kBM), kzoo::ceil_div(g.n, S::kBN),
            kzoo::ceil_div(g.k, S::kBK)};
  }
  __host__ __device__ int count() const { return rows * cols; }  // groups

  // Calls visit(row, col), where in C the tile begins, for each tile of the calling block.
  template <class Visit>
  __device__ __forceinline__ void for_own(Visit visit) const {
    const int rank = static_cast<int>(blockIdx.x) % kClusterM;
    for (int i = blockIdx.x / kClusterM; i < count(); i += gridDim.x / kClusterM) {
      const auto group = kzoo::threadblock_swizzle(i, rows, cols, 8);
      visit((kClusterM * group.row + rank) * S::kBM, group.col * S::kBN);
    }
  }
};

}  // namespace tile_scheduler
