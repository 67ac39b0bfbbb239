#pragma once
// Which tiles the blocks of a cluster compute, and what they load for each other.

#include <kzoo/cluster.hpp>
#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/tma_operands.hpp>

namespace clusters {

// As persistent_tiles, for the blocks of a cluster: they compute kClusterM tiles, one below the
// other, and it is these cluster tiles that are numbered.
template <class Tile>
struct cluster_tiles {
  static constexpr int kClusterM = Tile::kClusterM;
  int rows, cols, k_tiles;  // rows and columns of cluster tiles

  template <class G>
  static cluster_tiles of(const G& g) {
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

// Two blocks of a cluster, one below the other, have the same columns of B; two side by side have
// the same rows of A. Each loads its part of what is shared, and TMA delivers it to both.
template <class G, class Tile>
struct parts {
  using Smem = wgmma::smem_layout<G, Tile>;
  using a_part = typename Smem::template a_tile_of<Tile::kBM / Tile::kClusterN>;
  using b_part = typename Smem::template b_tile_of<Tile::kBN / Tile::kClusterM>;
  using maps = tma::operand_maps<a_part, b_part>;
};

// Starts to load a part of a k tile, for the calling block or for all kBlocks of its cluster.
template <class Part, bool kToAll, int kBlocks>
__device__ __forceinline__ void load_part(const kzoo::tensor_map<typename Part::tile>& map,
                                          typename Part::element* to, int mn, int k,
                                          kzoo::mbarrier& full) {
  const int row = Part::row(mn, k), col = Part::col(mn, k);
  if constexpr (kToAll) {
    kzoo::tma_load_multicast(map, to, row, col, full, (1u << kBlocks) - 1);
  } else {
    kzoo::tma_load(map, to, row, col, full);
  }
}

}  // namespace clusters
