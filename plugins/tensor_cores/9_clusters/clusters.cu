// Clusters with multicast. Two blocks below each other need the same columns of B: each loads half
// of them, and the copy engine delivers it to both. A stage is empty when the consumers of both
// blocks have read it.
//
//   rank 0: rows   0 to 127 of C    loads its A, and columns   0 to 127 of B for both
//   rank 1: rows 128 to 255         loads its A, and columns 128 to 255 of B for both

#include <tensor_cores/common/multicast.hpp>
#include <tensor_cores/common/persistent_tiles.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>
#include <tensor_cores/common/tma_store.hpp>

#include <algorithm>

namespace clusters {

using namespace warp_specialized;  // producer and consumers, their barriers
using tma::map_c_of;
using wgmma::smem_layout;
template <class S>
using tiles = tile_scheduler::tiles<S, 2>;
template <class G, class S>
using maps_of = typename tma::parts<G, S>::maps;

// One thread: k tiles into stages, each as soon as it is empty in both blocks.
template <class G, class S>
__device__ __forceinline__ void produce(const maps_of<G, S>& maps, const tiles<S>& all,
                                        typename G::a_type* stages, barriers<S::kStages>& sync) {
  using L = smem_layout<G, S>;
  using a_part = typename tma::parts<G, S>::a_part;  // all of the block's rows
  using b_part = typename tma::parts<G, S>::b_part;  // half of its columns
  const int half = static_cast<int>(kzoo::cluster_rank()) * b_part::kMN;
  position<S::kStages> at;
  all.for_own([&](int row0, int col0) {
    for (int k_tile = 0; k_tile < all.k_tiles; ++k_tile, at.advance()) {
      sync.empty[at.stage].wait(at.parity ^ 1);  // at once, the first time round
      auto* const stage = stages + at.stage * L::kStage;
      const int k = k_tile * S::kBK;
      sync.full[at.stage].arrive_and_expect(L::kStageBytes);  // from both blocks
      tma::load_part<a_part, false, 2>(maps.a, stage, row0, k, sync.full[at.stage]);
      tma::load_part<b_part, true, 2>(maps.b, L::b_of(stage) + L::b_tile::offset(half, 0),
                                      col0 + half, k, sync.full[at.stage]);
    }
  });
}

template <class G, class S, bool kByTma>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    clusters_kernel(const __grid_constant__ maps_of<G, S> maps,
                    const __grid_constant__ map_c_of<G> map_c, G g, bool pairs, tiles<S> all) {
  using out = tma::out_buffers<typename G::c_type, S>;  // of a consumer
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* buffers =
      reinterpret_cast<typename G::c_type*>(stages + S::kStages * smem_layout<G, S>::kStage);
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(buffers + S::kWarpgroups * out::kElements);
  if (threadIdx.x == 0) sync.init(2 * S::kWarpgroups);
  kzoo::cluster_sync();  // the other block's barriers are there, too

  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (warpgroup == S::kWarpgroups) {
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (threadIdx.x % kzoo::kWarpgroup == 0) produce<G, S>(maps, all, stages, sync);
  } else {
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    position<S::kStages> at;
    const auto release = [&](int stage) {
      const unsigned block = threadIdx.x % kzoo::kWarpgroup;  // of the cluster
      if (block < 2) sync.empty[stage].arrive_in(block);
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
  __syncwarp();
  kzoo::cluster_sync();  // no block ends while the other may still reach into its shared memory
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
    kzoo::allow_dynamic_shared(clusters_kernel<G, S, false>, kBytes<G>);
    if constexpr (kCanStore<G>) kzoo::allow_dynamic_shared(clusters_kernel<G, S, true>, kBytes<G>);
  }
  template <class G>
  static void launch(const G& g, int multiprocessors, kzoo::stream_t stream) {
    const auto all = tiles<S>::of(g);
    const auto enqueue = [&](auto* kernel, const map_c_of<G>& map_c) {
      kzoo::launch({.grid = dim3(2 * std::min(all.count(), std::max(multiprocessors / 2, 1))),
                    .block = dim3(kThreads<S>),
                    .dynamic_shared = kBytes<G>,
                    .max_threads = kThreads<S>,
                    .stream = stream,
                    .cluster = dim3(2)},
                   kernel, maps_of<G, S>::of(g), map_c, g, common::pairs_aligned(g), all);
    };
    if constexpr (kCanStore<G>) {
      if (g.beta == 0.0f && kzoo::tma_storable(g.c, g.n, g.ldc))
        return enqueue(clusters_kernel<G, S, true>, tma::map_of_c(g));
    }
    enqueue(clusters_kernel<G, S, false>, {});
  }
};

template <int BM, int BN, int Stages>
struct tiling : wgmma::tiling<BM, BN, Stages, 1> {
  static constexpr int kClusterM = 2, kClusterN = 1;
  static constexpr int kOutPanels = 2;  // of a consumer, in shared memory
};
template <int BM, int BN, int Stages>
using variant = tma::tile_variant<step<tiling<BM, BN, Stages>>>;

}  // namespace clusters

KZOO_PLUGIN("clusters", "Clusters of two blocks, which load B for each other",
            (kzoo::variant<clusters::variant<128, 256, 4>>("128x256x64_2x1",
                                                           "4 stages; for large matrices")));
