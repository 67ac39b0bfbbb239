#pragma once
// persistent's kernel, with a consumer that scales the products of each k tile and adds them to
// sums of its own. While it adds, products of the next k tile run; while it stores a tile of C, the
// first ones of the next.

#include <tensor_cores/beside/persistent/kernel.hpp>

#include <type_traits>

#include "products.hpp"

namespace fp8_scaled {

using persistent::assignment;
using persistent::partial_sums;
using persistent::schedule;
using persistent::soft_barriers;
using persistent::store_by;
using tma_store::c_panel;
using tma_store::c_panel_buffers;
using tma_store::rounded_accumulators;
using warp_specialized::kBlockThreads;
using warp_specialized::registers;
using wgmma::smem_layout;

inline constexpr int kWarpsOfGroup = kzoo::kWarpgroup / 32;

// Shared memory: that of persistent, then the scales.
template <class G, class Tile>
struct shared_layout : persistent::shared_layout<G, Tile> {
  using base = persistent::shared_layout<G, Tile>;
  static constexpr std::size_t kScales = Tile::kStages * sizeof(stage_scales<Tile>);
  static constexpr std::size_t kBytes = base::kBytes + kScales;
};

// The consumer loop goes through the k tiles of all of the block's tiles of C without a break: a
// tile is stored while the first products of the next run.
template <class G, class Tile, bool kByTma>
__device__ __forceinline__ void consume(const kzoo::tensor_map<c_panel<typename G::c_type>>& map_c,
                                        const G& g, store_by how, const schedule<Tile>& work,
                                        const partial_sums<Tile>& sums, int warpgroup,
                                        const typename G::a_type* stages,
                                        const stage_scales<Tile>* scales,
                                        typename G::c_type* buffers,
                                        barriers<Tile::kStages>& sync) {
  static_assert(!Tile::kManyTiles, "no tile is shared");
  float sum[Tile::kAccumulators];
#pragma unroll
  for (int j = 0; j < Tile::kAccumulators; ++j) sum[j] = 0.0f;
  const int turns = work.turns();
  int turn = 0, i = 0;  // the oldest products that run: k tile `i` of assignment `turn`
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
  int left = work.all_k_tiles();
  if constexpr (Tile::kInParts) {
    pipeline_of_parts<G, Tile> products(stages, scales, sync, warpgroup, left);
    float acc[Tile::kAccumulatorSets][64 / 2];
    products.multiply_first(acc);
    for (;; --left) {
      const factors<Tile> by = products.add_all_but_last(mine.col, mine.k_tile(i++), acc, sum);
      if (left == 1) {
        products.add_last(by, acc, sum);
        store_finished();
        break;
      }
      products.multiply_first(acc);
      products.add_last(by, acc, sum);
      store_finished();
    }
  } else {
    pipeline<G, Tile> products(stages, scales, sync, warpgroup, left);
    float acc[Tile::kAccumulatorSets][Tile::kAccumulators];
    products.multiply(acc[0]);
    if constexpr (Tile::kAccumulatorSets == 1) {
      for (; left > 1; --left) {
        products.template add<0>(mine.col, mine.k_tile(i++), acc[0], sum);
        products.multiply(acc[0]);
        store_finished();
      }
      products.template add<0>(mine.col, mine.k_tile(i++), acc[0], sum);
      store_finished();
    } else {
      // Of loops that compute the same, this is one through which ptxas keeps products running.
      for (; left > 2; left -= 2) {
        products.multiply(acc[1]);
        products.template add<1>(mine.col, mine.k_tile(i++), acc[0], sum);
        store_finished();
        products.multiply(acc[0]);
        products.template add<1>(mine.col, mine.k_tile(i++), acc[1], sum);
        store_finished();
      }
      if (left == 2) {
        products.multiply(acc[1]);
        products.template add<1>(mine.col, mine.k_tile(i++), acc[0], sum);
        store_finished();
        products.template add<0>(mine.col, mine.k_tile(i++), acc[1], sum);
      } else {
        products.template add<0>(mine.col, mine.k_tile(i++), acc[0], sum);
      }
      store_finished();
    }
  }
  if constexpr (kByTma) {
    if (threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class G, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, 1)
    kernel(const __grid_constant__ typename persistent::parts<G, Tile>::maps maps,
           const __grid_constant__ kzoo::tensor_map<c_panel<typename G::c_type>> map_c, G g,
           store_by how, schedule<Tile> work, partial_sums<Tile> sums, soft_barriers<Tile> soft) {
  constexpr int kReady = 15;  // number of the named barrier for "the mbarriers are initialised"
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
    sync.init(Tile::kWarpgroups * Tile::kCluster * kWarpsOfGroup);
  }
  if constexpr (Tile::kCluster > 1) kzoo::cluster_sync();

  if (warpgroup == Tile::kWarpgroups) {
    __syncwarp();
    if constexpr (Tile::kCluster == 1) kzoo::named_barrier_arrive<kBlockThreads<Tile>>(kReady);
    if constexpr (registers<Tile>::kReallocate)
      kzoo::release_registers<registers<Tile>::kProducer>();
    if (producer) {
      persistent::produce<G, Tile>(maps, work, soft, stages, sync, scale_loads<G, Tile>{g, scales});
    }
  } else {
    if constexpr (Tile::kCluster == 1) kzoo::named_barrier<kBlockThreads<Tile>>(kReady);
    if constexpr (registers<Tile>::kReallocate)
      kzoo::request_registers<registers<Tile>::kConsumer>();
    consume<G, Tile, kByTma>(map_c, g, how, work, sums, warpgroup, stages, scales,
                             buffers + warpgroup * panels::kElements, sync);
  }
}

}  // namespace fp8_scaled
