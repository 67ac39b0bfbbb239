#pragma once
// Producer and consumers: stages, the barriers of each, and the consumers' main loop.

#include <kzoo/mbarrier.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

namespace warp_specialized {

// Registers of a thread. A kernel of three warpgroups begins with 168 for all; the producer needs
// few, and leaves the others enough for a tile of 64 x 256 each.
template <class Tile>
struct registers {
  // setmaxnreg, where there are two consumers. (persistent has a variant with one, whose kernel has
  // enough registers for each thread as it is.)
  static constexpr bool kReallocate = Tile::kWarpgroups == 2;
  static constexpr int kProducer = 24, kConsumer = 240;
  static_assert(kProducer + 2 * kConsumer <= 65536 / kzoo::kWarpgroup, "an SM has 65536 registers");
};

template <class Tile>
inline constexpr int kBlockThreads =
    Tile::kThreads + kzoo::kWarpgroup;  // the consumers, then the producer

// In shared memory, two for each stage: the tiles have arrived; all consumers have read them.
template <int kStages>
struct barriers {
  kzoo::mbarrier full[kStages], empty[kStages];

  // One thread calls this. `consumers`: warpgroups that read a stage.
  __device__ __forceinline__ void init(unsigned consumers) {
    for (int stage = 0; stage < kStages; ++stage) {
      full[stage].init(1);
      empty[stage].init(consumers);
    }
    kzoo::fence_mbarrier_init();
  }
};

// Stages in turn, and the parity of the phase that their barriers are in (CUTLASS: PipelineState).
template <int kStages>
struct pipeline_state {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// A consumer: acc = the product of `k_tiles` stages from `state` on. release(stage) says that this
// warpgroup has read a stage: one k tile late, when the next products have started.
// meanwhile(k_tile) is what else it has to do while products run (only persistent has something).
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

}  // namespace warp_specialized
