// One block per SM that stays: while its consumers store a tile of C, the producer already loads
// the next. Two blocks form a cluster and share what both read; C leaves by the copy engine.

#include <kzoo/cluster.hpp>
#include <kzoo/plugin.hpp>
#include <wgmma/kernel.hpp>

#include <algorithm>
#include <cstdint>

#include "epilogue.hpp"
#include "partial_sums.hpp"
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

// What a consumer warpgroup does with its assignments. Where TMA stores tiles, a finished one
// leaves in between the products of the next, a panel at a time.
template <class T, class S, store_by kStore>
__device__ __forceinline__ void consume(const kzoo::tensor_map<out_tile<T>>& map_c,
                                        const kzoo::gemm<T>& g, const schedule<S>& work,
                                        const partial_sums<S>& sums, int warpgroup, const T* stages,
                                        T* buffers, barriers<S::kStages>& sync) {
  using out = finished<T, S::kBN>;
  const int thread = threadIdx.x % kzoo::kWarpgroup, turns = work.turns();
  // No producer waits for the last stages to be empty, and the other block may have ended by then.
  int to_release = work.all_k_tiles() - S::kStages;
  const auto release = [&](int stage) {
    if (to_release-- <= 0) return;
    if constexpr (S::kCluster == 1) {
      if (thread == 0) sync.empty[stage].arrive();
    } else {
      if (thread < S::kCluster) sync.empty[stage].arrive_in(thread);
    }
  };
  out c;
  bool pending = false;  // c is not yet stored
  const auto store_panel = [&](int k_tile) {
    if constexpr (kStore == store_by::tma && S::kManyTiles) {
#pragma unroll
      for (int panel = 0; panel < out::kPanels; ++panel) {
        if (panel == k_tile && pending) c.store(panel, map_c, buffers, warpgroup);
      }
    }
  };
  position<S::kStages> at;
  for (int turn = 0; turn < turns; ++turn) {
    const assignment mine = work.at(turn);
    const int row = mine.row + warpgroup * 64;
    float acc[S::kAccumulators];
    warp_specialized::consume<T, S>(stages, sync, at, mine.count(), warpgroup * 64, release,
                                    store_panel, acc);
    if constexpr (S::kManyTiles) {
      for (int panel = mine.count(); panel < out::kPanels; ++panel) store_panel(panel);
      pending = false;
      if (mine.begin > 0) {
        sums.leave(acc, warpgroup);
        continue;
      }
      if (mine.end < work.k_tiles) sums.collect(work, mine.shared_tile, warpgroup, acc);
    }
    if constexpr (kStore == store_by::tma) {
      c.row = row;
      c.col = mine.col;
      pending = true;
#pragma unroll
      for (int panel = 0; panel < out::kPanels; ++panel) {
        c.round(panel, acc, g.alpha);
        if constexpr (!S::kManyTiles) c.store(panel, map_c, buffers, warpgroup);
      }
    } else {
      wgmma::store<kStore == store_by::pairs>(g, row, mine.col, acc);
    }
  }
  if constexpr (kStore == store_by::tma) {
#pragma unroll
    for (int panel = 0; panel < out::kPanels; ++panel) store_panel(panel);
    if (thread == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class T, class S, store_by kStore>
__global__ void __launch_bounds__(kThreads<S>, 1)
    kernel(const __grid_constant__ typename parts<T, S>::maps maps,
           const __grid_constant__ kzoo::tensor_map<out_tile<T>> map_c, kzoo::gemm<T> g,
           schedule<S> work, partial_sums<S> sums) {
  constexpr int kReady = 15;  // a barrier's number
  T* stages = kzoo::dynamic_shared<T>();
  T* buffers = stages + S::kStages * layout<T, S>::kStage;
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(buffers +
                                                        S::kWarpgroups * out_buffers<T>::kElements);
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
    consume<T, S, kStore>(map_c, g, work, sums, warpgroup, stages,
                          buffers + warpgroup * out_buffers<T>::kElements, sync);
  }
}

// ClusterM x ClusterN blocks in a cluster. ManyTiles: a tile of C is stored while the next one is
// multiplied, and the last wave is shared. Where each block has one tile, that gains nothing, and
// costs instructions that have to be fetched: at 1024, 0.8 of 9 us.
template <int BM, int BN, int Stages, int ClusterM, int ClusterN, bool ManyTiles>
struct clustered : tiling<BM, BN, Stages, 1> {
  static constexpr bool kManyTiles = ManyTiles;
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kCluster = ClusterM * ClusterN;
  static_assert(kCluster <= 2, "what one block loads goes to all blocks of the cluster");
};

template <class S>
class variant : public wgmma::hopper_variant {
 public:
  variant(const kzoo_problem& p, const kzoo_device& d)
      : unaddressable_(p, d), clusters_(clusters_of(d)) {
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return partial_sums<S>::bytes(schedule<S>(p.m, p.n, p.k, clusters_of(d)));
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    if (!tma::addressable(g)) return unaddressable_.run(g, stream);
    const schedule<S> work(g.m, g.n, g.k, clusters_);
    const bool by_tma = g.beta == 0.0f && kzoo::tma_addressable(g.c, g.ldc);
    const auto map_c = by_tma ? kzoo::make_tensor_map<out_tile<T>>(g.c, g.m, g.n, g.ldc)
                              : kzoo::tensor_map<out_tile<T>>{};
    kzoo::launch({.grid = dim3(work.blocks()),
                  .block = dim3(kThreads<S>),
                  .dynamic_shared = shared_layout<T, S>::kBytes,
                  .max_threads = kThreads<S>,
                  .stream = stream,
                  .cluster = dim3(S::kCluster)},
                 by_tma                     ? kernel<T, S, store_by::tma>
                 : common::pairs_aligned(g) ? kernel<T, S, store_by::pairs>
                                            : kernel<T, S, store_by::elements>,
                 parts<T, S>::maps::of(g), map_c, g, work,
                 partial_sums<S>::in(arguments.workspace, work, numbers_.next()));
  }

 private:
  static int clusters_of(const kzoo_device& d) {
    return std::max(static_cast<int>(d.multiprocessors) / S::kCluster, 1);
  }

  template <class T>
  static void prepare() {
    constexpr std::size_t kBytes = shared_layout<T, S>::kBytes;
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::tma>, kBytes);
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::pairs>, kBytes);
    kzoo::allow_dynamic_shared(kernel<T, S, store_by::elements>, kBytes);
  }

  wgmma::variant<tiling<128, 128, 3, 2>> unaddressable_;  // for rows that TMA cannot address
  int clusters_;                                          // that the device runs at a time
  run_numbers numbers_;
};

}  // namespace persistent

using persistent::clustered;

KZOO_PLUGIN("persistent", "One block per SM, clusters with multicast, stores by the copy engine",
            kzoo::variant<persistent::variant<clustered<64, 128, 8, 1, 1, false>>>(
                "64x128x64", "one consumer, 8 stages; for matrices with few tiles"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 1, 1, false>>>(
                "128x256x64", "two consumers, 4 stages; for matrices of about one wave"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 2, 1, true>>>(
                "128x256x64_2x1", "the same in clusters of two; for large matrices"));
