#pragma once
// The consumers' main loop as kernels beyond the ladder have it.

#include <tensor_cores/common/consumer_registers.hpp>
#include <tensor_cores/common/producer_consumer.hpp>

namespace hopper {

using warp_specialized::barriers;
using warp_specialized::pipeline_state;

// Registers move where there are two consumers. A kernel with one has enough for each thread as it
// is.
template <class Tile>
struct registers {
  static constexpr bool kReallocate = Tile::kWarpgroups == 2;
  static constexpr int kProducer = wide_tiles::kProducerRegisters,
                       kConsumer = wide_tiles::kConsumerRegisters;
};

// A consumer: acc = the product of `k_tiles` stages from `state` on. release(stage) says that this
// warpgroup has read a stage: one k tile late, when the next products have started.
// meanwhile(k_tile) is what else it has to do while products run.
template <class G, class Tile, class Release, class Meanwhile>
__device__ __forceinline__ void consume(const typename G::a_type* stages,
                                        barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state, int k_tiles,
                                        int warpgroup_row, Release release, Meanwhile meanwhile,
                                        float (&acc)[Tile::kAccumulators]) {
  int last = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    sync.full[state.stage].wait(state.parity);
    wgmma::multiply_k_tile<G, Tile>(stages + state.stage * wgmma::smem_layout<G, Tile>::kStage,
                                    warpgroup_row, k_tile == 0, acc);
    meanwhile(k_tile);
    if (k_tile > 0) {
      kzoo::wgmma_wait<1>();
      release(last);
    }
    last = state.stage;
    state.advance();
  }
  kzoo::wgmma_wait<0>(acc);
  release(last);
}

// The same with nothing to do meanwhile.
template <class G, class Tile, class Release>
__device__ __forceinline__ void consume(const typename G::a_type* stages,
                                        barriers<Tile::kStages>& sync,
                                        pipeline_state<Tile::kStages>& state, int k_tiles,
                                        int warpgroup_row, Release release,
                                        float (&acc)[Tile::kAccumulators]) {
  consume<G, Tile>(
      stages, sync, state, k_tiles, warpgroup_row, release, [](int) {}, acc);
}

}  // namespace hopper
