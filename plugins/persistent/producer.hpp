#pragma once
// One thread of a block keeps the stages filled, across tiles of C, with what it loads itself and
// what the other block of the cluster loads for both.

#include <kzoo/tma.hpp>
#include <tma/operands.hpp>
#include <warp_specialized/pipeline.hpp>

#include "schedule.hpp"

namespace persistent {

// Blocks of a cluster below each other have the same columns of B, those side by side the same
// rows of A. Each loads its part of what is shared, and the copy engine delivers it to both.
template <class T, class S>
struct parts {
  using a_part = kzoo::swizzled_tile<T, S::kBM / S::kClusterN, S::kBK>;
  using b_part = kzoo::swizzled_tile<T, S::kBK, S::kBN / S::kClusterM>;
  using maps = tma::operand_maps<a_part, b_part>;
};

template <bool kToAll, int kBlocks, class Part>
__device__ __forceinline__ void load_part(const kzoo::tensor_map<Part>& map,
                                          typename Part::element* to, int row, int col,
                                          kzoo::mbarrier& full) {
  if constexpr (kToAll) {
    kzoo::tma_load_multicast(map, to, row, col, full, (1u << kBlocks) - 1);
  } else {
    kzoo::tma_load(map, to, row, col, full);
  }
}

template <class T, class S>
__device__ __forceinline__ void produce(const typename parts<T, S>::maps& maps,
                                        const schedule<S>& work, T* stages,
                                        warp_specialized::barriers<S::kStages>& sync) {
  using L = wgmma::layout<T, S>;
  using a_part = typename parts<T, S>::a_part;
  using b_part = typename parts<T, S>::b_part;
  const int a_row = work.n_rank() * a_part::kRows, b_col = work.m_rank() * b_part::kCols;
  T* const a_stages = stages + L::a_tile::offset(a_row, 0);
  T* const b_stages = stages + L::a_tile::kElements + L::b_tile::offset(0, b_col);

  warp_specialized::position<S::kStages> at;
  const int turns = work.turns();
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, at.advance()) {
      const int k = c.k_tile(i) * S::kBK, stage = at.stage * L::kStage;
      kzoo::mbarrier& full = sync.full[at.stage];
      sync.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_and_expect(L::kStage * sizeof(T));  // from both blocks
      load_part<(S::kClusterN > 1), S::kCluster>(maps.a, a_stages + stage, c.row + a_row, k, full);
      load_part<(S::kClusterM > 1), S::kCluster>(maps.b, b_stages + stage, k, c.col + b_col, full);
    }
  }
}

}  // namespace persistent
