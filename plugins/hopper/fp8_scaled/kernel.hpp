#pragma once
// persistent's kernel, with scales beside each stage, a producer for them, and consumers that
// multiply the next tile of C while they store one.

#include <hopper/persistent/kernel.hpp>

#include "products.hpp"

namespace fp8_scaled {

using persistent::assignment;
using persistent::partial_sums;
using persistent::schedule;
using persistent::soft_barriers;
using persistent::store_by;
using tma_store::c_panel;
using tma_store::c_panel_buffers;
using warp_specialized::kBlockThreads;
using wgmma::smem_layout;

// Registers of a thread, where they move: persistent's 24 are too few for two producers, whose
// loops then wait for spills.
inline constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

inline constexpr int kWarpsOfGroup = kzoo::kWarpgroup / 32;

// Shared memory: that of persistent, then the scales.
template <class G, class Tile>
struct shared_layout : persistent::shared_layout<G, Tile> {
  using base = persistent::shared_layout<G, Tile>;
  static constexpr std::size_t kScales = Tile::kStages * sizeof(stage_scales<Tile>);
  static constexpr std::size_t kBytes = base::kBytes + kScales;
};

// The consumer goes through the k tiles of all of the block's tiles of C without a break: a tile is
// stored while the first products of the next run.
template <class G, class Tile, bool kByTma>
__device__ __forceinline__ void consume(const kzoo::tensor_map<c_panel<typename G::c_type>>& map_c,
                                        const G& g, store_by how, const schedule<Tile>& work,
                                        const partial_sums<Tile>& sums, int warpgroup,
                                        const typename G::a_type* stages,
                                        const stage_scales<Tile>* scales,
                                        typename G::c_type* buffers,
                                        barriers<Tile::kStages>& sync) {
  static_assert(!Tile::kManyTiles && Tile::kCluster == 1, "no tile is shared, nor a k tile");
  float sum[Tile::kAccumulators];
#pragma unroll
  for (int j = 0; j < Tile::kAccumulators; ++j) sum[j] = 0.0f;
  const int turns = work.turns();
  int turn = 0, i = 0;  // the products that are added next: k tile `i` of assignment `turn`
  assignment mine = work.at(0);

  const auto store_finished = [&] {
    if (i < mine.count()) return;
    if constexpr (kByTma) {
      tma_store::store_tile<Tile>(map_c, buffers, warpgroup, mine.row, mine.col, g.alpha, sum);
    } else if (how == store_by::second_launch) {
      sums.write(sum, warpgroup);
    } else {
      wgmma::store(how == store_by::pairs, g, mine.row + warpgroup * 64, mine.col, sum);
    }
#pragma unroll
    for (int j = 0; j < Tile::kAccumulators; ++j) sum[j] = 0.0f;
    i = 0;
    if (++turn < turns) mine = work.whole_tile(turn);
  };
  const auto next = [&] { return k_tile{mine.col, mine.k_tile(i++)}; };
  typename Tile::template products<G>(stages, scales, sync, warpgroup, work.all_k_tiles())
      .run(sum, next, store_finished);
  if constexpr (kByTma) {
    if (threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class G, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, 1)
    kernel(const __grid_constant__ typename persistent::parts<G, Tile>::maps maps,
           const __grid_constant__ kzoo::tensor_map<c_panel<typename G::c_type>> map_c, G g,
           store_by how, schedule<Tile> work, partial_sums<Tile> sums, soft_barriers<Tile> soft) {
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto* scales =
      reinterpret_cast<stage_scales<Tile>*>(buffers + Tile::kWarpgroups * panels::kElements);
  auto& sync = *reinterpret_cast<barriers<Tile::kStages>*>(scales + Tile::kStages);
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  const bool producer = threadIdx.x == Tile::kThreads;
  if (producer) {
    maps.prefetch();
    sync.init(Tile::kWarpgroups * kWarpsOfGroup, 2);
  }
  __syncthreads();

  if (warpgroup == Tile::kWarpgroups) {
    if constexpr (hopper::registers<Tile>::kReallocate)
      kzoo::release_registers<kProducerRegisters>();
    if (producer) {
      persistent::produce<G, Tile>(maps, work, soft, stages, sync);
    } else if (threadIdx.x == Tile::kThreads + 32) {  // of another warp
      produce_scales(g, work, scales, sync);
    }
  } else {
    if constexpr (hopper::registers<Tile>::kReallocate)
      kzoo::request_registers<kConsumerRegisters>();
    consume<G, Tile, kByTma>(map_c, g, how, work, sums, warpgroup, stages, scales,
                             buffers + warpgroup * panels::kElements, sync);
  }
}

}  // namespace fp8_scaled
