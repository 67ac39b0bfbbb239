// C leaves by TMA. Accumulators are rounded to C's type, go to shared memory in rows (stmatrix), a
// panel of 64 columns at a time, and from there to C by TMA, while the next tile is multiplied. So
// it is where C has 16-bit elements and rows that TMA can address, and beta is 0; else a thread
// stores its accumulators itself, as before.

#include <tensor_cores/common/consumer_registers.hpp>
#include <tensor_cores/common/persistent_tiles.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include <algorithm>

namespace tma_store {

using tile_scheduler::persistent_tiles;
using tma::tile_maps;
using warp_specialized::barriers;
using warp_specialized::kBlockThreads;
using warp_specialized::pipeline_state;
using wgmma::smem_layout;

// One thread: k tiles into stages, each as soon as it is empty.
template <class G, class Tile>
__device__ __forceinline__ void produce(const tile_maps<G, Tile>& maps,
                                        const persistent_tiles<Tile>& tiles,
                                        typename G::a_type* stages, barriers<Tile::kStages>& sync) {
  pipeline_state<Tile::kStages> state;
  tiles.for_each_of_block([&](int row0, int col0) {
    for (int k_tile = 0; k_tile < tiles.k_tiles; ++k_tile, state.advance()) {
      // At once, the first time round: a new barrier passes a wait for parity 1.
      sync.empty[state.stage].wait(state.parity ^ 1);
      tma::load_stage<G, Tile>(maps, stages + state.stage * smem_layout<G, Tile>::kStage, row0,
                               col0, k_tile * Tile::kBK, sync.full[state.stage]);
    }
  });
}

// A consumer: acc = the product of `k_tiles` stages, each as soon as it is full. The stage of a k
// tile is released when the products of the next have started.
template <class G, class Tile>
__device__ __forceinline__ void consume(const typename G::a_type* stages, int k_tiles,
                                        int warpgroup_row, barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state,
                                        float (&acc)[Tile::kAccumulators]) {
  const auto release = [&](int stage) {
    if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
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
    tma_store_kernel(const __grid_constant__ tile_maps<G, Tile> maps,
                     const __grid_constant__ map_c_of<G> map_c, G g, bool pairs,
                     persistent_tiles<Tile> tiles) {
  using panels = c_panel_buffers<typename G::c_type, Tile>;   // of a consumer
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  // kCPanels of (64, 64) for each consumer.
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  auto& sync =
      *reinterpret_cast<barriers<Tile::kStages>*>(buffers + Tile::kWarpgroups * panels::kElements);
  if (threadIdx.x == 0) sync.init(Tile::kWarpgroups);
  __syncthreads();

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
        // Equivalent to stmatrix and cp.async.bulk.tensor of each panel of (64, 64).
        store_tile<Tile>(map_c, buffers + warpgroup * panels::kElements, warpgroup, row0, col0,
                         g.alpha, acc);
      } else {
        wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
      }
    });
    // The block's shared memory is there until TMA has read the last panels.
    if (kByTma && threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
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
    kzoo::allow_dynamic_shared(tma_store_kernel<G, Tile, false>, kBytes<G>);
    if constexpr (kCanStoreByTma<G>)
      kzoo::allow_dynamic_shared(tma_store_kernel<G, Tile, true>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto tiles = persistent_tiles<Tile>::of(g);
    const auto enqueue = [&](auto* kernel, const map_c_of<G>& map_c) {
      kzoo::launch({.grid = dim3(std::min(tiles.count(), multiprocessors)),
                    .block = dim3(kBlockThreads<Tile>),
                    .dynamic_shared = kBytes<G>,
                    .max_threads = kBlockThreads<Tile>,
                    .stream = stream},
                   kernel, tile_maps<G, Tile>::of(g), map_c, g, common::pairs_aligned(g), tiles);
    };
    if constexpr (kCanStoreByTma<G>) {
      if (g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc))
        return enqueue(tma_store_kernel<G, Tile, true>, map_of_c(g));
    }
    enqueue(tma_store_kernel<G, Tile, false>, {});
  }
};

template <int BM, int BN, int Stages>
struct tiling : wgmma::tiling<BM, BN, Stages, 1> {
  static constexpr int kCPanels = 2;  // of a consumer, in shared memory
};
template <int BM, int BN, int Stages>
using variant = tma::tile_variant<traits<tiling<BM, BN, Stages>>>;

}  // namespace tma_store

KZOO_PLUGIN("tma_store", "C rounded into shared memory, and stored by TMA",
            (kzoo::variant<tma_store::variant<128, 128, 5>>("128x128x64", "5 stages")),
            (kzoo::variant<tma_store::variant<128, 256, 4>>("128x256x64",
                                                            "4 stages; for large matrices")));
