#pragma once
// What two blocks of a cluster load for each other.

#include <kzoo/cluster.hpp>
#include <tensor_cores/common/tma_operands.hpp>

namespace clusters {

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
