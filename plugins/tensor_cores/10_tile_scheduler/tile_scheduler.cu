// Persistent blocks: one for each SM, which goes through tiles of C, one after the other. The
// producer does not stop between them: while the consumers store a tile, the first k tiles of the
// next arrive.

#include <tensor_cores/common/consumer_registers.hpp>
#include <tensor_cores/common/persistent_tiles.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>

#include <algorithm>

namespace tile_scheduler {

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
  // Equivalent to for (tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x).
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

template <class G, class Tile>
__global__ void __launch_bounds__(kBlockThreads<Tile>, Tile::kBlocksPerSm)
    tile_scheduler_kernel(const __grid_constant__ tile_maps<G, Tile> maps, G g, bool pairs,
                          persistent_tiles<Tile> tiles) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  auto& sync = *reinterpret_cast<barriers<Tile::kStages>*>(
      stages + Tile::kStages * smem_layout<G, Tile>::kStage);
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
      wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
    });
  }
}

template <class Tile>
struct traits {
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes +
                                        sizeof(barriers<Tile::kStages>);

  template <class G>
  static void prepare() {
    kzoo::allow_dynamic_shared(tile_scheduler_kernel<G, Tile>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto tiles = persistent_tiles<Tile>::of(g);
    kzoo::launch({.grid = dim3(std::min(tiles.count(), multiprocessors)),
                  .block = dim3(kBlockThreads<Tile>),
                  .dynamic_shared = kBytes<G>,
                  .max_threads = kBlockThreads<Tile>,
                  .stream = stream},
                 tile_scheduler_kernel<G, Tile>, tile_maps<G, Tile>::of(g), g,
                 common::pairs_aligned(g), tiles);
  }
};

template <int BM, int BN, int Stages>
using variant = tma::tile_variant<traits<wgmma::tiling<BM, BN, Stages, 1>>>;

}  // namespace tile_scheduler

KZOO_PLUGIN("tile_scheduler", "Persistent blocks that go through tiles of C",
            (kzoo::variant<tile_scheduler::variant<128, 128, 6>>("128x128x64", "6 stages")),
            (kzoo::variant<tile_scheduler::variant<128, 256, 4>>("128x256x64",
                                                                 "4 stages; for large matrices")));
