#pragma once
// A persistent kernel, one block per SM: while its consumers store a tile of C, the producer
// already loads the next. Two blocks form a cluster and share what both read; C is stored by TMA.

#include <hopper/common/partial_sums.hpp>
#include <kzoo/cluster.hpp>
#include <kzoo/dependent_launch.hpp>
#include <kzoo/plugin.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include "producer.hpp"

namespace persistent {

using tma_store::c_panel;
using tma_store::c_panel_buffers;
using tma_store::rounded_accumulators;

using hopper::registers;
using warp_specialized::barriers;
using warp_specialized::kBlockThreads;
using warp_specialized::pipeline_state;
using wgmma::smem_layout;

// How C is stored: by TMA; by the threads that have the accumulators, in pairs or element by
// element; or by a second launch, where K is split.
enum class store_by { tma, pairs, elements, second_launch };

// Shared memory: the stages, then what the epilogue has of C, then barriers.
template <class G, class Tile>
struct shared_layout {
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  static constexpr std::size_t kStages = smem_layout<G, Tile>::kBytes,
                               kOut = Tile::kWarpgroups * panels::kBytes;
  static constexpr std::size_t kBytes = kStages + kOut + sizeof(barriers<Tile::kStages>);
};

// A product whose sums become something else before they are stored than alpha times themselves:
// finish(row, col, acc) does that to what a thread has, from its first element (row, col) on.
template <class G>
concept finishes = requires(const G& g, float (&acc)[4]) {
  g.finish(0, 0, acc);
};

// A product that stores sums in its own way: those that a thread has of a warpgroup's part of C,
// which begins at (row, col).
template <class G>
concept stores_itself = requires(const G& g, float (&acc)[4]) {
  g.store(true, 0, 0, acc);
};

// Can pairs of neighbours in C be stored as one word?
template <class G>
bool pairs_aligned(const G& g) {
  if constexpr (stores_itself<G>) {
    return g.pairs_aligned();
  } else {
    return common::pairs_aligned(g);
  }
}

// The consumer loop. With TMA stores the finished tile is written panel by panel while the next one
// is multiplied, if there are registers for both (Tile::kDeferred).
template <class G, class Tile, bool kByTma>
__device__ __forceinline__ void consume(const kzoo::tensor_map<c_panel<typename G::c_type>>& map_c,
                                        const G& g, store_by how, const schedule<Tile>& work,
                                        const partial_sums<Tile>& sums, int warpgroup,
                                        const typename G::a_type* stages,
                                        typename G::c_type* buffers,
                                        barriers<Tile::kStages>& sync) {
  using rounded = rounded_accumulators<typename G::c_type, Tile::kBN>;
  constexpr int kBuffers = Tile::kCPanels;
  constexpr bool kDeferred = kByTma && Tile::kDeferred;
  const int thread = threadIdx.x % kzoo::kWarpgroup, turns = work.turns();
  // No producer waits for the last stages to be empty, and the other block may have ended by then.
  int to_release = work.all_k_tiles() - Tile::kStages;
  const auto release = [&](int stage) {
    if (to_release-- <= 0) return;
    if constexpr (Tile::kCluster == 1) {
      if (thread == 0) sync.empty[stage].arrive();
    } else {
      if (thread < Tile::kCluster) sync.empty[stage].arrive_in(thread);
    }
  };
  rounded c;
  bool pending = false;  // c is not yet stored
  const auto store_panel = [&](int k_tile) {
    if constexpr (kDeferred) {
#pragma unroll
      for (int panel = 0; panel < rounded::kPanels; ++panel) {
        if (panel == k_tile && pending)
          c.template store<kBuffers>(panel, map_c, buffers, warpgroup);
      }
    }
  };
  pipeline_state<Tile::kStages> state;
  for (int turn = 0; turn < turns; ++turn) {
    const assignment mine = work.at(turn);
    const int row = mine.row + warpgroup * 64;
    float acc[Tile::kAccumulators];
    Tile::template consume<G>(stages, sync, state, mine.count(), warpgroup, release, store_panel,
                              acc);
    if constexpr (kDeferred) {
      for (int panel = mine.count(); panel < rounded::kPanels; ++panel) store_panel(panel);
      pending = false;
    }
    if constexpr (Tile::kManyTiles) {
      if (work.shares() && mine.begin > 0) {
        sums.leave(acc, warpgroup);
        continue;
      }
      if (work.shares() && mine.end < work.k_tiles)
        sums.collect(work, mine.shared_tile, warpgroup, acc);
    }
    if constexpr (finishes<G>) {
      if (how != store_by::second_launch)
        g.finish(row + thread / 32 * 16 + thread % 32 / 4, mine.col + thread % 4 * 2, acc);
    }
    if constexpr (kByTma) {
      c.row = row;
      c.col = mine.col;
      pending = true;
#pragma unroll
      for (int panel = 0; panel < rounded::kPanels; ++panel) {
        c.round(panel, acc, finishes<G> ? 1.0f : g.alpha);
        if constexpr (!kDeferred) c.template store<kBuffers>(panel, map_c, buffers, warpgroup);
      }
    } else if (how == store_by::second_launch) {
      sums.write(acc, warpgroup);
    } else if constexpr (stores_itself<G>) {
      g.store(how == store_by::pairs, row, mine.col, acc);
    } else {
      wgmma::store(how == store_by::pairs, g, row, mine.col, acc);
    }
  }
  if constexpr (kByTma) {
#pragma unroll
    for (int panel = 0; panel < rounded::kPanels; ++panel) store_panel(panel);
    if (thread == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class G, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, 1)
    kernel(const __grid_constant__ typename parts<G, Tile>::maps maps,
           const __grid_constant__ kzoo::tensor_map<c_panel<typename G::c_type>> map_c, G g,
           store_by how, schedule<Tile> work, partial_sums<Tile> sums, soft_barriers<Tile> soft) {
  constexpr int kReady = 15;  // number of the named barrier for "the mbarriers are initialised"
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto& sync =
      *reinterpret_cast<barriers<Tile::kStages>*>(buffers + Tile::kWarpgroups * panels::kElements);
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  const bool producer = threadIdx.x == Tile::kThreads;
  if (producer) {
    maps.prefetch();
    sync.init(Tile::kWarpgroups * Tile::kCluster);
  }
  if constexpr (Tile::kCluster > 1) kzoo::cluster_sync();

  if (warpgroup == Tile::kWarpgroups) {
    __syncwarp();
    // A producer of its own block's tiles alone need not wait for anything.
    if constexpr (Tile::kCluster == 1) kzoo::named_barrier_arrive<kBlockThreads<Tile>>(kReady);
    if constexpr (registers<Tile>::kReallocate)
      kzoo::release_registers<registers<Tile>::kProducer>();
    if (producer) {
      kzoo::wait_for_previous();  // for padded copies, and soft barriers that are cleared
      produce<G, Tile>(maps, work, soft, stages, sync);
    }
  } else {
    if constexpr (Tile::kCluster == 1) kzoo::named_barrier<kBlockThreads<Tile>>(kReady);
    if constexpr (registers<Tile>::kReallocate)
      kzoo::request_registers<registers<Tile>::kConsumer>();
    consume<G, Tile, kByTma>(map_c, g, how, work, sums, warpgroup, stages,
                             buffers + warpgroup * panels::kElements, sync);
  }
}

// ClusterM x ClusterN blocks in a cluster. ManyTiles: a tile of C is stored while the next one is
// multiplied, and the last wave is shared. Where each block has one tile, that gains nothing, and
// costs instructions that have to be fetched: at 1024, 0.8 of 9 us.
template <int BM, int BN, int Stages, int ClusterM, int ClusterN, bool ManyTiles, int BK = 64>
struct clustered : wgmma::tiling<BM, BN, Stages, 1, BK> {
  static constexpr bool kManyTiles = ManyTiles, kDeferred = ManyTiles;
  static constexpr int kCPanels = 2;
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kCluster = ClusterM * ClusterN;
  static_assert(kCluster <= 2, "what one block loads goes to all blocks of the cluster");

  // The main loop of a consumer.
  template <class G, class Release, class Meanwhile>
  static __device__ __forceinline__ void consume(const typename G::a_type* stages,
                                                 barriers<Stages>& sync,
                                                 pipeline_state<Stages>& state, int k_tiles,
                                                 int warpgroup, Release release,
                                                 Meanwhile meanwhile, float (&acc)[BN / 2]) {
    hopper::consume<G, clustered>(stages, sync, state, k_tiles, warpgroup * 64, release, meanwhile,
                                  acc);
  }
};

}  // namespace persistent
