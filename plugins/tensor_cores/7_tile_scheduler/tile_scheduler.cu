// Persistent blocks: one for each SM, which goes through tiles of C, one after the other. The
// producer does not stop between them: while the consumers store a tile, the first k tiles of the
// next arrive.

#include <tensor_cores/common/persistent_tiles.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>

#include <algorithm>

namespace tile_scheduler {

using namespace warp_specialized;  // producer and consumers, their barriers
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

template <class G, class S>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    tile_scheduler_kernel(const __grid_constant__ tile_maps<G, S> maps, G g, bool pairs,
                          tiles<S> all) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto& sync =
      *reinterpret_cast<barriers<S::kStages>*>(stages + S::kStages * smem_layout<G, S>::kStage);
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
      wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
    });
  }
}

template <class S>
struct step {
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, S>::kBytes + sizeof(barriers<S::kStages>);

  template <class G>
  static void prepare() {
    kzoo::allow_dynamic_shared(tile_scheduler_kernel<G, S>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto all = tiles<S>::of(g);
    kzoo::launch({.grid = dim3(std::min(all.count(), multiprocessors)),
                  .block = dim3(kThreads<S>),
                  .dynamic_shared = kBytes<G>,
                  .max_threads = kThreads<S>,
                  .stream = stream},
                 tile_scheduler_kernel<G, S>, tile_maps<G, S>::of(g), g, common::pairs_aligned(g),
                 all);
  }
};

template <int BM, int BN, int Stages>
using variant = tma::tile_variant<step<wgmma::tiling<BM, BN, Stages, 1>>>;

}  // namespace tile_scheduler

KZOO_PLUGIN("tile_scheduler", "Persistent blocks that go through tiles of C",
            (kzoo::variant<tile_scheduler::variant<128, 128, 6>>("128x128x64", "6 stages")),
            (kzoo::variant<tile_scheduler::variant<128, 256, 4>>("128x256x64",
                                                                 "4 stages; for large matrices")));
