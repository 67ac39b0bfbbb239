// One block per SM that stays: while its consumers store a tile of C, the producer already loads
// the next. Two blocks form a cluster and share what both read; C leaves by the copy engine.

#include <common/threadblock_swizzle.hpp>
#include <kzoo/cluster.hpp>
#include <tma/operands.hpp>
#include <warp_specialized/pipeline.hpp>
#include <wgmma/kernel.hpp>

#include <algorithm>

#include "epilogue.hpp"
#include "schedule.hpp"

namespace persistent {

using warp_specialized::barriers;
using warp_specialized::kThreads;
using warp_specialized::position;
using warp_specialized::registers;
using wgmma::layout;
using wgmma::tiling;

// Blocks of a cluster below each other have the same columns of B, those side by side the same
// rows of A. Each loads its part of what is shared, and the copy engine delivers it to both.
template <class T, class S>
struct parts {
  using a_part = kzoo::swizzled_tile<T, S::kBM / S::kClusterN, S::kBK>;
  using b_part = kzoo::swizzled_tile<T, S::kBK, S::kBN / S::kClusterM>;
  using maps = tma::operand_maps<a_part, b_part>;
};

// Shared memory: the stages, then what the epilogue has of C, then barriers.
template <class T, class S>
struct shared_layout {
  static constexpr std::size_t kStages = layout<T, S>::kBytes;
  static constexpr std::size_t kOut = sizeof(T) * S::kWarpgroups * out_buffers<T>::kElements;
  static constexpr std::size_t kBytes = kStages + kOut + sizeof(barriers<S::kStages>);
};

// One thread: the k tiles of all of the block's tiles of C into stages.
template <class T, class S>
__device__ __forceinline__ void produce(const typename parts<T, S>::maps& maps,
                                        const schedule<S>& work, T* stages,
                                        barriers<S::kStages>& sync) {
  using L = layout<T, S>;
  using P = parts<T, S>;
  constexpr unsigned kAll = (1u << S::kCluster) - 1;
  position<S::kStages> at;
  const int a_row = work.n_rank() * P::a_part::kRows, b_col = work.m_rank() * P::b_part::kCols;
  for (int tile = work.first(); tile < work.count(); tile += work.step()) {
    const auto c = work.position_of(tile);
    for (int k_tile = 0; k_tile < work.k_tiles; ++k_tile, at.advance()) {
      T* a = stages + at.stage * L::kStage + a_row * P::a_part::kPanelCols;
      T* b = stages + at.stage * L::kStage + L::a_tile::kElements + b_col * P::b_part::kRows;
      kzoo::mbarrier& full = sync.full[at.stage];
      const int k = k_tile * S::kBK;
      sync.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_and_expect(L::kStage * sizeof(T));  // both blocks' parts
      if constexpr (S::kClusterN > 1) {
        kzoo::tma_load_multicast(maps.a, a, c.row + a_row, k, full, kAll);
      } else {
        kzoo::tma_load(maps.a, a, c.row, k, full);
      }
      if constexpr (S::kClusterM > 1) {
        kzoo::tma_load_multicast(maps.b, b, k, c.col + b_col, full, kAll);
      } else {
        kzoo::tma_load(maps.b, b, k, c.col, full);
      }
    }
  }
}

template <class T, class S, store_by kStore>
__global__ void __launch_bounds__(kThreads<S>, 1)
    kernel(const __grid_constant__ typename parts<T, S>::maps maps,
           const __grid_constant__ kzoo::tensor_map<out_tile<T>> map_c, kzoo::gemm<T> g,
           schedule<S> work) {
  using L = layout<T, S>;
  T* stages = kzoo::dynamic_shared<T>();
  T* out = stages + S::kStages * L::kStage;
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(out + S::kWarpgroups *
                                                                  out_buffers<T>::kElements);
  if (threadIdx.x == 0) {
    maps.prefetch();
    sync.init(S::kWarpgroups * S::kCluster);
  }
  if constexpr (S::kCluster > 1) {
    kzoo::cluster_sync();
  } else {
    __syncthreads();
  }

  const int warpgroup = threadIdx.x / kzoo::kWarpgroup, thread = threadIdx.x % kzoo::kWarpgroup;
  if (warpgroup == S::kWarpgroups) {
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (thread == 0) produce<T, S>(maps, work, stages, sync);
    __syncwarp();
  } else {
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    const auto release = [&](int stage) {  // to all producers that fill it
      if constexpr (S::kCluster == 1) {
        if (thread == 0) sync.empty[stage].arrive();
      } else {
        if (thread < S::kCluster) sync.empty[stage].arrive_in(thread);
      }
    };
    T* buffers = out + warpgroup * out_buffers<T>::kElements;
    position<S::kStages> at;
    for (int tile = work.first(); tile < work.count(); tile += work.step()) {
      const auto c = work.position_of(tile);
      const int row = c.row + warpgroup * 64;
      float acc[S::kAccumulators];
      warp_specialized::consume<T, S>(stages, sync, at, work.k_tiles, warpgroup * 64, release,
                                      acc);
      if constexpr (kStore == store_by::tma) {
        store_by_tma(map_c, g.alpha, buffers, warpgroup, row, c.col, acc);
      } else {
        wgmma::store<kStore == store_by::pairs>(g, row, c.col, acc);
      }
    }
    if (kStore == store_by::tma && thread == 0) kzoo::tma_store_wait_read<0>();
  }
  if constexpr (S::kCluster > 1) kzoo::cluster_sync();  // none reaches into a block that has ended
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
            kzoo::variant<persistent::variant<clustered<128, 64, 8, 1, 2>>>(
                "128x64x64_1x2", "8 stages; for matrices with few tiles"),
            kzoo::variant<persistent::variant<clustered<64, 128, 8, 2, 1>>>(
                "64x128x64_2x1", "8 stages; for matrices with few tiles"),
            kzoo::variant<persistent::variant<clustered<128, 128, 6, 2, 1>>>("128x128x64_2x1",
                                                                             "6 stages"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 1, 1>>>(
                "128x256x64_1x1", "4 stages, no clusters"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 2, 1>>>(
                "128x256x64_2x1", "4 stages; for large matrices"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 1, 2>>>(
                "128x256x64_1x2", "4 stages"));
