#pragma once
// Producer and consumers: stages, the barriers of each, and the consumers' main loop.

#include <kzoo/mbarrier.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

namespace warp_specialized {

// Registers of a thread. A kernel of three warpgroups begins with 168 for all; the producer needs
// few, and leaves the others enough for a tile of 64 x 256 each.
template <class S>
struct registers {
  static constexpr bool kMove = S::kWarpgroups == 2;
  static constexpr int kProducer = 24, kConsumer = 240;
  static_assert(kProducer + 2 * kConsumer <= 65536 / kzoo::kWarpgroup, "an SM has 65536 registers");
};

template <class S>
inline constexpr int kThreads = S::kThreads + kzoo::kWarpgroup;  // the consumers, then the producer

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

// Stages in turn, and the parity of the phase that their barriers are in.
template <int kStages>
struct position {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// A consumer: acc = the product of `k_tiles` stages from `at` on. release(stage) says that this
// warpgroup has read a stage: one k tile late, when the next products have started.
// meanwhile(k_tile) is what else it has to do while products run.
template <class G, class S, class Release, class Meanwhile>
__device__ __forceinline__ void consume(const typename G::a_type* stages,
                                        barriers<S::kStages>& sync, position<S::kStages>& at,
                                        int k_tiles, int warpgroup_row, Release release,
                                        Meanwhile meanwhile, float (&acc)[S::kAccumulators]) {
  int last = 0;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    sync.full[at.stage].wait(at.parity);
    wgmma::multiply_k_tile<G, S>(stages + at.stage * wgmma::smem_layout<G, S>::kStage,
                                 warpgroup_row, k_tile == 0, acc);
    meanwhile(k_tile);
    if (k_tile > 0) {
      kzoo::wgmma_wait<1>();
      release(last);
    }
    last = at.stage;
    at.advance();
  }
  kzoo::wgmma_wait<0>(acc);
  release(last);
}

}  // namespace warp_specialized
