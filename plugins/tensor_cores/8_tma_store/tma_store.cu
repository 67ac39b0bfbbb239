// C leaves by the copy engine. Accumulators are rounded to C's type, go to shared memory in rows
// (stmatrix), a panel of 64 columns at a time, and from there to C by TMA, while the next tile is
// multiplied. That is where C has 16-bit elements, and beta is 0; else a thread stores its
// accumulators itself, as before.

#include <tensor_cores/common/persistent_tiles.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include <algorithm>

namespace tma_store {

using namespace warp_specialized;  // producer and consumers, their barriers
using tile_scheduler::tiles;
using tma::map_c_of;
using tma::tile_maps;
using wgmma::smem_layout;

// One thread: k tiles into stages, each as soon as it is empty.
template <class G, class S>
__device__ __forceinline__ void produce(const tile_maps<G, S>& maps, const tiles<S>& all,
                                        typename G::a_type* stages, barriers<S::kStages>& sync) {
  position<S::kStages> at;
  all.for_own([&](int row0, int col0) {
    for (int k_tile = 0; k_tile < all.k_tiles; ++k_tile, at.advance()) {
      sync.empty[at.stage].wait(at.parity ^ 1);  // at once, the first time round
      tma::load_stage<G, S>(maps, stages + at.stage * smem_layout<G, S>::kStage, row0, col0,
                            k_tile * S::kBK, sync.full[at.stage]);
    }
  });
}

template <class G, class S, bool kByTma>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    tma_store_kernel(const __grid_constant__ tile_maps<G, S> maps,
                     const __grid_constant__ map_c_of<G> map_c, G g, bool pairs, tiles<S> all) {
  using out = tma::out_buffers<typename G::c_type, S>;  // of a consumer
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + S::kStages * smem_layout<G, S>::kStage);
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(buffers + S::kWarpgroups * out::kElements);
  if (threadIdx.x == 0) sync.init(S::kWarpgroups);
  __syncthreads();

  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (warpgroup == S::kWarpgroups) {
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (threadIdx.x % kzoo::kWarpgroup == 0) produce<G, S>(maps, all, stages, sync);
  } else {
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    position<S::kStages> at;
    const auto release = [&](int stage) {
      if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
    };
    all.for_own([&](int row0, int col0) {
      float acc[S::kAccumulators];  // (64, BN) of a warpgroup
      consume<G, S>(
          stages, sync, at, all.k_tiles, warpgroup * 64, release, [](int) {}, acc);
      if constexpr (kByTma) {
        tma::store_tile<S>(map_c, buffers + warpgroup * out::kElements, warpgroup, row0, col0,
                           g.alpha, acc);
      } else {
        wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
      }
    });
    // The block's shared memory is there until TMA has read the last panels.
    if (kByTma && threadIdx.x % kzoo::kWarpgroup == 0) kzoo::tma_store_wait_read<0>();
  }
}

template <class S>
struct step {
  template <class G>
  static constexpr std::size_t kBytes =
      smem_layout<G, S>::kBytes + S::kWarpgroups* tma::out_buffers<typename G::c_type, S>::kBytes +
      sizeof(barriers<S::kStages>);
  template <class G>
  static constexpr bool kCanStore = sizeof(typename G::c_type) == 2;

  template <class G>
  static void prepare() {
    kzoo::allow_dynamic_shared(tma_store_kernel<G, S, false>, kBytes<G>);
    if constexpr (kCanStore<G>) kzoo::allow_dynamic_shared(tma_store_kernel<G, S, true>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto all = tiles<S>::of(g);
    const auto enqueue = [&](auto* kernel, const map_c_of<G>& map_c) {
      kzoo::launch({.grid = dim3(std::min(all.count(), multiprocessors)),
                    .block = dim3(kThreads<S>),
                    .dynamic_shared = kBytes<G>,
                    .max_threads = kThreads<S>,
                    .stream = stream},
                   kernel, tile_maps<G, S>::of(g), map_c, g, common::pairs_aligned(g), all);
    };
    if constexpr (kCanStore<G>) {
      if (g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc))
        return enqueue(tma_store_kernel<G, S, true>, tma::map_of_c(g));
    }
    enqueue(tma_store_kernel<G, S, false>, {});
  }
};

template <int BM, int BN, int Stages>
struct tiling : wgmma::tiling<BM, BN, Stages, 1> {
  static constexpr int kOutPanels = 2;  // of a consumer, in shared memory
};
template <int BM, int BN, int Stages>
using variant = tma::tile_variant<step<tiling<BM, BN, Stages>>>;

}  // namespace tma_store

KZOO_PLUGIN("tma_store", "C rounded into shared memory, and stored by the copy engine",
            (kzoo::variant<tma_store::variant<128, 128, 4>>("128x128x64", "4 stages")),
            (kzoo::variant<tma_store::variant<128, 256, 4>>("128x256x64",
                                                            "4 stages; for large matrices")));
