#pragma once
// One thread of a block keeps the stages filled, across tiles of C, with what it loads itself and
// what the other block of the cluster loads for both.

#include <kzoo/tma.hpp>
#include <tensor_cores/common/multicast.hpp>
#include <tensor_cores/common/producer_consumer.hpp>

#include <tensor_cores/common/soft_barriers.hpp>

namespace persistent {

using tma::load_part;
using tma::parts;

template <class G, class S>
__device__ __forceinline__ void produce(const typename parts<G, S>::maps& maps,
                                        const schedule<S>& work, const soft_barriers<S>& soft,
                                        typename G::a_type* stages,
                                        warp_specialized::barriers<S::kStages>& sync) {
  using L = wgmma::smem_layout<G, S>;
  using a_part = typename parts<G, S>::a_part;
  using b_part = typename parts<G, S>::b_part;
  const int a_mn = work.n_rank() * a_part::kMN, b_mn = work.m_rank() * b_part::kMN;
  auto* const a_stages = stages + L::a_tile::offset(a_mn, 0);
  auto* const b_stages = L::b_of(stages) + L::b_tile::offset(b_mn, 0);

  warp_specialized::position<S::kStages> at;
  const int turns = work.turns();
  int done = 0;  // k tiles of whole tiles
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, at.advance()) {
      const int k = c.k_tile(i) * S::kBK, stage = at.stage * L::kStage;
      kzoo::mbarrier& full = sync.full[at.stage];
      if constexpr (S::kManyTiles) {
        if (c.shared_tile < 0) soft.wait(done++, work.clusters);
      }
      sync.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_and_expect(L::kStageBytes);  // from both blocks
      load_part<a_part, (S::kClusterN > 1), S::kCluster>(maps.a, a_stages + stage, c.row + a_mn, k,
                                                         full);
      load_part<b_part, (S::kClusterM > 1), S::kCluster>(maps.b, b_stages + stage, c.col + b_mn, k,
                                                         full);
    }
  }
}

}  // namespace persistent
