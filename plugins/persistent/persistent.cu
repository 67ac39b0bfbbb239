// One block per SM that stays: while its consumers store a tile of C, the producer already loads
// the next. Two blocks form a cluster and share what both read; C leaves by the copy engine.

#include <kzoo/cluster.hpp>
#include <kzoo/plugin.hpp>
#include <wgmma/kernel.hpp>

#include <algorithm>

#include "epilogue.hpp"
#include "producer.hpp"

namespace persistent {

using warp_specialized::barriers;
using warp_specialized::kThreads;
using warp_specialized::position;
using warp_specialized::registers;
using wgmma::layout;
using wgmma::tiling;

// Shared memory: the stages, then what the epilogue has of C, then barriers.
template <class T, class S>
struct shared_layout {
  static constexpr std::size_t kStages = layout<T, S>::kBytes;
  static constexpr std::size_t kOut = sizeof(T) * S::kWarpgroups * out_buffers<T>::kElements;
  static constexpr std::size_t kBytes = kStages + kOut + sizeof(barriers<S::kStages>);
};

// What a consumer warpgroup does with its tiles of C. Where TMA stores them, a finished tile leaves
// in between the products of the next, a panel at a time.
template <class T, class S, store_by kStore>
__device__ __forceinline__ void consume(const kzoo::tensor_map<out_tile<T>>& map_c,
                                        const kzoo::gemm<T>& g, const schedule<S>& work,
                                        int warpgroup, const T* stages, T* buffers,
                                        barriers<S::kStages>& sync) {
  using out = finished<T, S::kBN>;
  const int thread = threadIdx.x % kzoo::kWarpgroup, turns = work.turns();
  // Nobody waits for the last stages to be empty, and the other block may have ended by then.
  int to_release = turns * work.k_tiles - S::kStages;
  const auto release = [&](int stage) {
    if (to_release-- <= 0) return;
    if constexpr (S::kCluster == 1) {
      if (thread == 0) sync.empty[stage].arrive();
    } else {
      if (thread < S::kCluster) sync.empty[stage].arrive_in(thread);
    }
  };
  out c;
  position<S::kStages> at;
  for (int turn = 0; turn < turns; ++turn) {
    float acc[S::kAccumulators];
    const auto store_previous = [&](int k_tile) {
      if constexpr (kStore == store_by::tma) {
#pragma unroll
        for (int panel = 0; panel < out::kPanels; ++panel) {
          if (panel == k_tile && turn > 0) c.store(panel, map_c, buffers, warpgroup);
        }
      }
    };
    warp_specialized::consume<T, S>(stages, sync, at, work.k_tiles, warpgroup * 64, release,
                                    store_previous, acc);
    for (int panel = work.k_tiles; panel < out::kPanels; ++panel) store_previous(panel);
    const assignment tile = work.at(turn);
    const int row = tile.row + warpgroup * 64;
    if constexpr (kStore == store_by::tma) {
      c.set(acc, g.alpha, row, tile.col);
    } else {
      wgmma::store<kStore == store_by::pairs>(g, row, tile.col, acc);
    }
  }
  if constexpr (kStore == store_by::tma) {
#pragma unroll
    for (int panel = 0; panel < out::kPanels; ++panel) c.store(panel, map_c, buffers, warpgroup);
    if (thread == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class T, class S, store_by kStore>
__global__ void __launch_bounds__(kThreads<S>, 1)
    kernel(const __grid_constant__ typename parts<T, S>::maps maps,
           const __grid_constant__ kzoo::tensor_map<out_tile<T>> map_c, kzoo::gemm<T> g,
           schedule<S> work) {
  constexpr int kReady = 15;  // a barrier's number
  T* stages = kzoo::dynamic_shared<T>();
  T* buffers = stages + S::kStages * layout<T, S>::kStage;
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(
      buffers + S::kWarpgroups * out_buffers<T>::kElements);
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  const bool producer = threadIdx.x == S::kThreads;
  if (producer) {
    maps.prefetch();
    sync.init(S::kWarpgroups * S::kCluster);
  }
  if constexpr (S::kCluster > 1) kzoo::cluster_sync();

  if (warpgroup == S::kWarpgroups) {
    __syncwarp();
    // A producer of its own block's tiles alone need not wait for anything.
    if constexpr (S::kCluster == 1) kzoo::named_barrier_arrive<kThreads<S>>(kReady);
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (producer) produce<T, S>(maps, work, stages, sync);
  } else {
    if constexpr (S::kCluster == 1) kzoo::named_barrier<kThreads<S>>(kReady);
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    consume<T, S, kStore>(map_c, g, work, warpgroup, stages,
                          buffers + warpgroup * out_buffers<T>::kElements, sync);
  }
}

// ClusterM x ClusterN blocks in a cluster.
template <int BM, int BN, int Stages, int ClusterM, int ClusterN>
struct clustered : tiling<BM, BN, Stages, 1> {
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kCluster = ClusterM * ClusterN;
  static_assert(kCluster <= 2, "what one block loads goes to all blocks of the cluster");
};

template <class S>
class variant : public wgmma::hopper_variant {
 public:
  variant(const kzoo_problem& p, const kzoo_device& d)
      : unaddressable_(p, d), clusters_(static_cast<int>(d.multiprocessors) / S::kCluster) {
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    if (!tma::addressable(g)) return unaddressable_.run(g, stream);
    const schedule<S> work(g.m, g.n, g.k);
    const int blocks = std::min(clusters_, work.count()) * S::kCluster;
    const bool by_tma = g.beta == 0.0f && kzoo::tma_addressable(g.c, g.ldc);
    const auto map_c = by_tma
                           ? kzoo::make_tensor_map<out_tile<T>>(g.c, g.m, g.n, g.ldc)
                           : kzoo::tensor_map<out_tile<T>>{};
    kzoo::launch({.grid = dim3(blocks),
                  .block = dim3(kThreads<S>),
                  .dynamic_shared = shared_layout<T, S>::kBytes,
                  .max_threads = kThreads<S>,
                  .stream = stream,
                  .cluster = dim3(S::kCluster)},
                 by_tma                     ? kernel<T, S, store_by::tma>
                 : common::pairs_aligned(g) ? kernel<T, S, store_by::pairs>
                                            : kernel<T, S, store_by::elements>,
                 parts<T, S>::maps::of(g), map_c, g, work);
  }

 private:
  template <class T>
  static void prepare() {
    constexpr std::size_t kBytes = shared_layout<T, S>::kBytes;
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::tma>, kBytes);
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::pairs>, kBytes);
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::elements>, kBytes);
  }

  wgmma::variant<tiling<128, 128, 3, 2>> unaddressable_;  // for rows that TMA cannot address
  int clusters_;                                          // that the device runs at a time
};

}  // namespace persistent

using persistent::clustered;

KZOO_PLUGIN("persistent", "One block per SM, clusters with multicast, stores by the copy engine",
            kzoo::variant<persistent::variant<clustered<64, 128, 8, 1, 1>>>(
                "64x128x64", "one consumer, 8 stages; for matrices with few tiles"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 1, 1>>>(
                "128x256x64", "two consumers, 4 stages; for matrices of about one wave"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 2, 1>>>(
                "128x256x64_2x1", "the same in clusters of two; for large matrices"));
