#pragma once
// What a producer and its consumers share: the barriers of each stage, and the order of stages.

#include <kzoo/mbarrier.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

namespace warp_specialized {

template <class Tile>
inline constexpr int kBlockThreads =
    Tile::kThreads + kzoo::kWarpgroup;  // the consumers, then the producer

// In shared memory, two for each stage: the tiles have arrived; all consumers have read them.
template <int kStages>
struct barriers {
  kzoo::mbarrier full[kStages], empty[kStages];

  // One thread calls this. `consumers`: warpgroups that read a stage. `producers`: threads that
  // fill it.
  __device__ __forceinline__ void init(unsigned consumers, unsigned producers = 1) {
    for (int stage = 0; stage < kStages; ++stage) {
      full[stage].init(producers);
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

}  // namespace warp_specialized
