#pragma once
// One thread of a block keeps the stages filled, across tiles of C, with what it loads itself and
// what the other block of the cluster loads for both.

#include <hopper/common/consumer.hpp>
#include <kzoo/tma.hpp>
#include <tensor_cores/common/multicast.hpp>

#include <hopper/common/soft_barriers.hpp>

namespace persistent {

using clusters::load_part;
using clusters::parts;

template <class G, class Tile>
__device__ __forceinline__ void produce(const typename parts<G, Tile>::maps& maps,
                                        const schedule<Tile>& work, const soft_barriers<Tile>& soft,
                                        typename G::a_type* stages,
                                        warp_specialized::barriers<Tile::kStages>& sync) {
  using Smem = wgmma::smem_layout<G, Tile>;
  using a_part = typename parts<G, Tile>::a_part;
  using b_part = typename parts<G, Tile>::b_part;
  const int a_mn = work.n_rank() * a_part::kMN, b_mn = work.m_rank() * b_part::kMN;
  auto* const a_stages = stages + Smem::a_tile::offset(a_mn, 0);
  auto* const b_stages = Smem::b_of(stages) + Smem::b_tile::offset(b_mn, 0);

  warp_specialized::pipeline_state<Tile::kStages> state;
  const int turns = work.turns();
  int done = 0;  // k tiles of whole tiles
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, state.advance()) {
      const int k = c.k_tile(i) * Tile::kBK, stage = state.stage * Smem::kStage;
      kzoo::mbarrier& full = sync.full[state.stage];
      if constexpr (Tile::kManyTiles) {
        if (c.shared_tile < 0) soft.wait(done++, work.clusters);
      }
      sync.empty[state.stage].wait(state.parity ^ 1);
      full.arrive_and_expect(Smem::kStageBytes);  // from both blocks
      load_part<a_part, (Tile::kClusterN > 1), Tile::kCluster>(maps.a, a_stages + stage,
                                                               c.row + a_mn, k, full);
      load_part<b_part, (Tile::kClusterM > 1), Tile::kCluster>(maps.b, b_stages + stage,
                                                               c.col + b_mn, k, full);
    }
  }
}

}  // namespace persistent
