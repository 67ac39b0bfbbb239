#pragma once
// A persistent kernel for groups of rows: one launch, whose blocks go through the tiles of all
// groups. Beside its walk (group_walk.hpp) it is what persistent is, without a shared last wave.

#include <hopper/common/consumer.hpp>
#include <kzoo/cluster.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/tma.hpp>
#include <tensor_cores/common/multicast.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "group_walk.hpp"

namespace grouped_persistent {

using clusters::parts;
using hopper::registers;
using tma_store::c_panel;
using tma_store::c_panel_buffers;
using tma_store::rounded_accumulators;
using warp_specialized::barriers;
using warp_specialized::kBlockThreads;
using warp_specialized::pipeline_state;
using wgmma::smem_layout;

// ClusterM x ClusterN blocks in a cluster, which have tiles of the same group.
template <int BM, int BN, int Stages, int ClusterM = 1, int ClusterN = 1, int BK = 64>
struct tiling : wgmma::tiling<BM, BN, Stages, 1, BK> {
  static constexpr int kCPanels = 2;  // of a consumer, in shared memory
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kCluster = ClusterM * ClusterN;
  static_assert(kCluster <= 2, "what one block loads goes to all blocks of the cluster");

  // The calling block's cluster, and its place there.
  static __device__ int cluster() { return static_cast<int>(blockIdx.x) / kCluster; }
  static __device__ int clusters() { return static_cast<int>(gridDim.x) / kCluster; }
  static __device__ int m_rank() { return static_cast<int>(blockIdx.x) % kCluster % kClusterM; }
  static __device__ int n_rank() { return static_cast<int>(blockIdx.x) % kCluster / kClusterM; }
};

// The product of one group.
template <class Groups>
using product_of = std::remove_cvref_t<decltype(Groups::all)>;

// Shared memory: the stages, then what the epilogue has of C, then barriers.
template <class G, class Tile>
struct shared_layout {
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes +
                                        Tile::kWarpgroups * panels::kBytes +
                                        sizeof(barriers<Tile::kStages>);
};

// All rows of A, and each group's B.
template <class G, class Tile>
struct operand_maps {
  using a_part = typename parts<G, Tile>::a_part;
  using b_part = typename parts<G, Tile>::b_part;
  kzoo::tensor_map<typename a_part::tile> a;
  kzoo::batch_tensor_map<typename b_part::tile> b;

  template <class Groups>
  static operand_maps of(const Groups& groups) {
    const auto b_view = common::b_of(groups.all);
    // (The stride of one group may be 0.)
    const std::ptrdiff_t stride = std::max(groups.stride_b, b_view.rows * b_view.row_length);
    return {kzoo::make_tensor_map<typename a_part::tile>(groups.all.a, groups.all.m, groups.all.k,
                                                         groups.all.lda),
            kzoo::make_batch_tensor_map<typename b_part::tile>(
                b_view.data, b_view.rows, b_view.cols, b_view.row_length, groups.count, stride)};
  }
};

// One warp: its first lane keeps the stages filled, across tiles of C and groups.
template <class G, class Tile>
__device__ __forceinline__ void produce(const operand_maps<G, Tile>& maps, group_walk<Tile> walk,
                                        int k_tiles, typename G::a_type* stages,
                                        barriers<Tile::kStages>& sync) {
  using Smem = smem_layout<G, Tile>;
  using a_part = typename parts<G, Tile>::a_part;
  using b_part = typename parts<G, Tile>::b_part;
  constexpr unsigned kAllBlocks = (1u << Tile::kCluster) - 1;
  // Where in the block's tiles the part begins that it loads.
  const int a_mn = Tile::n_rank() * a_part::kMN, b_mn = Tile::m_rank() * b_part::kMN;
  auto* const a_stages = stages + Smem::a_tile::offset(a_mn, 0);
  auto* const b_stages = Smem::b_of(stages) + Smem::b_tile::offset(b_mn, 0);

  pipeline_state<Tile::kStages> state;
  group_tile c;
  for (int number = Tile::cluster(); walk.find(number, c); number += Tile::clusters()) {
    const int row = c.row + Tile::m_rank() * Tile::kBM + a_mn;
    const int col = c.col + Tile::n_rank() * Tile::kBN + b_mn;
    if (threadIdx.x % 32 == 0) {
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile, state.advance()) {
        const int k = k_tile * Tile::kBK, stage = state.stage * Smem::kStage;
        kzoo::mbarrier& full = sync.full[state.stage];
        // At once, the first time round: a new barrier passes a wait for parity 1.
        sync.empty[state.stage].wait(state.parity ^ 1);
        full.arrive_and_expect(Smem::kStageBytes);  // from both blocks
        clusters::load_part<a_part, (Tile::kClusterN > 1), Tile::kCluster>(maps.a, a_stages + stage,
                                                                           row, k, full);
        const int b_row = b_part::row(col, k), b_col = b_part::col(col, k);
        if constexpr (Tile::kClusterM > 1) {
          kzoo::tma_load_multicast(maps.b, b_stages + stage, c.group, b_row, b_col, full,
                                   kAllBlocks);
        } else {
          kzoo::tma_load(maps.b, b_stages + stage, c.group, b_row, b_col, full);
        }
      }
    }
    __syncwarp();
  }
}

// A warpgroup's finished part of a tile: 64 rows or, above the next group, fewer; none: all stored.
template <class G, class Tile>
struct finished_rows : rounded_accumulators<typename G::c_type, Tile::kBN> {
  using T = typename G::c_type;
  using base = rounded_accumulators<T, Tile::kBN>;
  int rows = 0;

  // Stores a panel: by TMA, but with fewer rows by all of the warpgroup, 16 bytes a thread.
  __device__ __forceinline__ void store(int panel, const kzoo::tensor_map<c_panel<T>>& map,
                                        const G& g, T* buffers, int warpgroup) const {
    const auto leave = [&](const T* buffer, int thread) {
      const int col0 = base::col + panel * 64;
      if (rows < 64) {
        copy(buffer, thread, g, col0);
      } else if (thread == 0) {
        kzoo::tma_store(map, buffer, base::row, col0);
      }
      if (thread == 0) kzoo::tma_store_commit();
    };
    base::template store<Tile::kCPanels>(panel, buffers, warpgroup, leave);
  }

 private:
  // (Not unrolled: it seldom runs, and instructions have to be fetched.)
  __device__ __forceinline__ void copy(const T* panel, int thread, const G& g, int col0) const {
    constexpr int kInRow = c_panel<T>::kRowBytes / c_panel<T>::kChunkBytes;
    const int x = thread % kInRow * c_panel<T>::kChunk;
    if (col0 + x >= g.n) return;  // n is a multiple of kChunk
#pragma unroll 1
    for (int y = thread / kInRow; y < rows; y += kzoo::kWarpgroup / kInRow) {
      *reinterpret_cast<uint4*>(g.c + (base::row + y) * g.ldc + col0 + x) =
          *reinterpret_cast<const uint4*>(panel + c_panel<T>::offset(y, x));
    }
  }
};

// A consumer. With TMA stores a tile is written panel by panel while the next one is multiplied.
template <class G, class Tile, bool kByTma>
__device__ __forceinline__ void consume(const kzoo::tensor_map<c_panel<typename G::c_type>>& map_c,
                                        const G& g, bool pairs, group_walk<Tile> walk,
                                        int warpgroup, const typename G::a_type* stages,
                                        typename G::c_type* buffers,
                                        barriers<Tile::kStages>& sync) {
  const int thread = threadIdx.x % kzoo::kWarpgroup, k_tiles = kzoo::ceil_div(g.k, Tile::kBK);
  const auto release = [&](int stage) {
    if constexpr (Tile::kCluster == 1) {
      if (thread == 0) sync.empty[stage].arrive();
    } else {
      if (thread < Tile::kCluster) sync.empty[stage].arrive_in(thread);
    }
  };
  using finished = finished_rows<G, Tile>;
  finished c;  // not yet stored
  const auto store_panel = [&](int number) {
    if constexpr (kByTma) {
#pragma unroll
      for (int panel = 0; panel < finished::kPanels; ++panel) {
        if (panel == number && c.rows > 0) c.store(panel, map_c, g, buffers, warpgroup);
      }
    }
  };

  pipeline_state<Tile::kStages> state;
  group_tile tile;
  for (int number = Tile::cluster(); walk.find(number, tile); number += Tile::clusters()) {
    const int row = tile.row + Tile::m_rank() * Tile::kBM + warpgroup * 64;
    const int col = tile.col + Tile::n_rank() * Tile::kBN, rows = min(tile.end - row, 64);
    float acc[Tile::kAccumulators];
    int stored = 0;  // panels of the tile before
    if (rows > 0) {
      hopper::consume<G, Tile>(stages, sync, state, k_tiles, warpgroup * 64, release, store_panel,
                               acc);
      stored = k_tiles;
    } else {
      // The group ends above this warpgroup's rows: nothing to multiply.
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile, state.advance()) {
        sync.full[state.stage].wait(state.parity);
        // Without it, the stage might be full again before the last warp has seen that it was.
        kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);
        release(state.stage);
      }
    }
    if constexpr (kByTma) {
      for (; stored < finished::kPanels; ++stored) store_panel(stored);
      c.rows = rows;
      if (rows > 0) {
        c.row = row;
        c.col = col;
#pragma unroll
        for (int panel = 0; panel < finished::kPanels; ++panel) c.round(panel, acc, g.alpha);
      }
    } else if (rows > 0) {
      G of_group = g;
      of_group.m = tile.end;
      wgmma::store(pairs, of_group, row, col, acc);
    }
  }
  if constexpr (kByTma) {
#pragma unroll
    for (int panel = 0; panel < finished::kPanels; ++panel) store_panel(panel);
    // The block's shared memory is there until TMA has read the last panels.
    if (thread == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class Groups, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, 1)
    kernel(const __grid_constant__ operand_maps<product_of<Groups>, Tile> maps,
           const __grid_constant__ tma_store::map_c_of<product_of<Groups>> map_c, Groups groups,
           bool pairs) {
  using G = product_of<Groups>;
  using panels = c_panel_buffers<typename G::c_type, Tile>;
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto& sync =
      *reinterpret_cast<barriers<Tile::kStages>*>(buffers + Tile::kWarpgroups * panels::kElements);
  const G& g = groups.all;
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (threadIdx.x == Tile::kThreads) {
    kzoo::prefetch(maps.a);
    kzoo::prefetch(maps.b);
    sync.init(Tile::kWarpgroups * Tile::kCluster);
  }
  if constexpr (Tile::kCluster > 1) {
    kzoo::cluster_sync();  // the other block's barriers are there, too
  } else {
    __syncthreads();
  }

  const group_walk<Tile> walk(groups.offsets, groups.count, g.n);
  if (warpgroup == Tile::kWarpgroups) {
    if constexpr (registers<Tile>::kReallocate)
      kzoo::release_registers<registers<Tile>::kProducer>();
    if (threadIdx.x < Tile::kThreads + 32)
      produce<G, Tile>(maps, walk, kzoo::ceil_div(g.k, Tile::kBK), stages, sync);
  } else {
    if constexpr (registers<Tile>::kReallocate)
      kzoo::request_registers<registers<Tile>::kConsumer>();
    consume<G, Tile, kByTma>(map_c, g, pairs, walk, warpgroup, stages,
                             buffers + warpgroup * panels::kElements, sync);
  }
  // No block ends while the other may still reach into its shared memory.
  if constexpr (Tile::kCluster > 1) {
    __syncwarp();
    kzoo::cluster_sync();
  }
}

}  // namespace grouped_persistent
