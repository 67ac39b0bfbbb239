// Clusters with multicast. Two blocks, one below the other, need the same columns of B: each loads
// half of them, and TMA delivers it to both. A stage is empty when the consumers of both
// blocks have read it.
//
//   rank 0: rows   0 to 127 of C    loads its A, and columns   0 to 127 of B for both
//   rank 1: rows 128 to 255         loads its A, and columns 128 to 255 of B for both

#include <tensor_cores/common/consumer_registers.hpp>
#include <tensor_cores/common/multicast.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include <algorithm>

namespace clusters {

using tma_store::c_panel_buffers;
using tma_store::map_c_of;
using warp_specialized::barriers;
using warp_specialized::kBlockThreads;
using warp_specialized::pipeline_state;
using wgmma::smem_layout;
template <class G, class Tile>
using maps_of = typename parts<G, Tile>::maps;

// One thread: k tiles into stages, each as soon as it is empty in both blocks.
template <class G, class Tile>
__device__ __forceinline__ void produce(const maps_of<G, Tile>& maps,
                                        const cluster_tiles<Tile>& tiles,
                                        typename G::a_type* stages, barriers<Tile::kStages>& sync) {
  using Smem = smem_layout<G, Tile>;
  using a_part = typename parts<G, Tile>::a_part;  // all of the block's rows
  using b_part = typename parts<G, Tile>::b_part;  // half of its columns
  const int half = static_cast<int>(kzoo::cluster_rank()) * b_part::kMN;
  pipeline_state<Tile::kStages> state;
  tiles.for_each_of_block([&](int row0, int col0) {
    for (int k_tile = 0; k_tile < tiles.k_tiles; ++k_tile, state.advance()) {
      // At once, the first time round: a new barrier passes a wait for parity 1.
      sync.empty[state.stage].wait(state.parity ^ 1);
      auto* const stage = stages + state.stage * Smem::kStage;
      const int k = k_tile * Tile::kBK;
      sync.full[state.stage].arrive_and_expect(Smem::kStageBytes);  // from both blocks
      load_part<a_part, false, 2>(maps.a, stage, row0, k, sync.full[state.stage]);  // for itself
      load_part<b_part, true, 2>(maps.b, Smem::b_of(stage) + Smem::b_tile::offset(half, 0),
                                 col0 + half, k, sync.full[state.stage]);  // for both
    }
  });
}

// A consumer: acc = the product of `k_tiles` stages, each as soon as it is full. The stage of a k
// tile is released, in both blocks, when the products of the next have started.
template <class G, class Tile>
__device__ __forceinline__ void consume(const typename G::a_type* stages, int k_tiles,
                                        int warpgroup_row, barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state,
                                        float (&acc)[Tile::kAccumulators]) {
  const auto release = [&](int stage) {
    const unsigned block = threadIdx.x % kzoo::kWarpgroup;  // of the cluster
    if (block < 2) sync.empty[stage].arrive_in(block);
  };
  int last = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, state.advance()) {
    sync.full[state.stage].wait(state.parity);
    wgmma::multiply_k_tile<G, Tile>(stages + state.stage * smem_layout<G, Tile>::kStage,
                                    warpgroup_row, k_tile == 0, acc);
    if (k_tile > 0) {
      kzoo::wgmma_wait<1>();
      release(last);
    }
    last = state.stage;
  }
  kzoo::wgmma_wait<0>(acc);
  release(last);
}

template <class G, class Tile, bool kByTma>
__global__ void __launch_bounds__(kBlockThreads<Tile>, Tile::kBlocksPerSm)
    clusters_kernel(const __grid_constant__ maps_of<G, Tile> maps,
                    const __grid_constant__ map_c_of<G> map_c, G g, bool pairs,
                    cluster_tiles<Tile> tiles) {
  using panels = c_panel_buffers<typename G::c_type, Tile>;   // of a consumer
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  // kCPanels of (64, 64) for each consumer.
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto& sync =
      *reinterpret_cast<barriers<Tile::kStages>*>(buffers + Tile::kWarpgroups * panels::kElements);
  if (threadIdx.x == 0) sync.init(2 * Tile::kWarpgroups);
  kzoo::cluster_sync();  // the other block's barriers are there, too

  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (warpgroup == Tile::kWarpgroups) {
    kzoo::release_registers<wide_tiles::kProducerRegisters>();
    if (threadIdx.x % kzoo::kWarpgroup == 0) produce<G, Tile>(maps, tiles, stages, sync);
  } else {
    kzoo::request_registers<wide_tiles::kConsumerRegisters>();
    pipeline_state<Tile::kStages> state;
    tiles.for_each_of_block([&](int row0, int col0) {
      float acc[Tile::kAccumulators];  // (64, BN) of a warpgroup
      consume<G, Tile>(stages, tiles.k_tiles, warpgroup * 64, sync, state, acc);
      if constexpr (kByTma) {
        tma_store::store_tile<Tile>(map_c, buffers + warpgroup * panels::kElements, warpgroup, row0,
                                    col0, g.alpha, acc);
      } else {
        wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
      }
    });
    // The block's shared memory is there until TMA has read the last panels.
    if (kByTma && threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
  __syncwarp();  // the thread that was the producer is back: cluster_sync() is for whole warps
  kzoo::cluster_sync();  // no block ends while the other may still reach into its shared memory
}

template <class Tile>
struct traits {
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes +
                                        std::size_t{Tile::kWarpgroups} *
                                            c_panel_buffers<typename G::c_type, Tile>::kBytes +
                                        sizeof(barriers<Tile::kStages>);
  template <class G>
  static constexpr bool kCanStoreByTma = sizeof(typename G::c_type) == 2;

  template <class G>
  static void prepare() {
    kzoo::allow_dynamic_shared(clusters_kernel<G, Tile, false>, kBytes<G>);
    if constexpr (kCanStoreByTma<G>)
      kzoo::allow_dynamic_shared(clusters_kernel<G, Tile, true>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto tiles = cluster_tiles<Tile>::of(g);
    const auto enqueue = [&](auto* kernel, const map_c_of<G>& map_c) {
      kzoo::launch({.grid = dim3(2 * std::min(tiles.count(), std::max(multiprocessors / 2, 1))),
                    .block = dim3(kBlockThreads<Tile>),
                    .dynamic_shared = kBytes<G>,
                    .max_threads = kBlockThreads<Tile>,
                    .stream = stream,
                    .cluster = dim3(2)},
                   kernel, maps_of<G, Tile>::of(g), map_c, g, common::pairs_aligned(g), tiles);
    };
    if constexpr (kCanStoreByTma<G>) {
      if (g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc))
        return enqueue(clusters_kernel<G, Tile, true>, tma_store::map_of_c(g));
    }
    enqueue(clusters_kernel<G, Tile, false>, {});
  }
};

template <int BM, int BN, int Stages>
struct tiling : wgmma::tiling<BM, BN, Stages, 1> {
  static constexpr int kClusterM = 2, kClusterN = 1;
  static constexpr int kCPanels = 2;  // of a consumer, in shared memory
};
template <int BM, int BN, int Stages>
using variant = tma::tile_variant<traits<tiling<BM, BN, Stages>>>;

}  // namespace clusters

KZOO_PLUGIN("clusters", "Clusters of two blocks, which load B for each other",
            (kzoo::variant<clusters::variant<128, 256, 4>>("128x256x64_2x1",
                                                           "4 stages; for large matrices")));
