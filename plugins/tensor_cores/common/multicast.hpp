#pragma once
// What two blocks of a cluster load for each other.

#include <kzoo/cluster.hpp>
#include <tensor_cores/common/tma_operands.hpp>

namespace tma {

// Blocks of a cluster below each other have the same columns of B, those side by side the same
// rows of A. Each loads its part of what is shared, and the copy engine delivers it to both.
template <class G, class S>
struct parts {
  using L = wgmma::smem_layout<G, S>;
  using a_part = typename L::template a_tile_of<S::kBM / S::kClusterN>;
  using b_part = typename L::template b_tile_of<S::kBN / S::kClusterM>;
  using maps = operand_maps<a_part, b_part>;
};

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

}  // namespace tma
