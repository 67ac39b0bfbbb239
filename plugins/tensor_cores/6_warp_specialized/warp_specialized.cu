// Warp specialization. One warpgroup, the producer, loads tiles and does nothing else; two others,
// the consumers, multiply them and do nothing else. There is no __syncthreads in the main loop:
// each stage has two mbarriers, full and empty.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/producer_consumer.hpp>
#include <tensor_cores/common/tma_operands.hpp>

namespace warp_specialized {

using tma::tile_maps;
using wgmma::smem_layout;

// One thread: k tiles into stages, each as soon as it is empty.
template <class G, class S>
__device__ __forceinline__ void produce(const tile_maps<G, S>& maps, int k_tiles, int row0,
                                        int col0, typename G::a_type* stages,
                                        barriers<S::kStages>& sync) {
  position<S::kStages> at;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, at.advance()) {
    sync.empty[at.stage].wait(at.parity ^ 1);  // at once, the first time round
    tma::load_stage<G, S>(maps, stages + at.stage * smem_layout<G, S>::kStage, row0, col0,
                          k_tile * S::kBK, sync.full[at.stage]);
  }
}

template <class G, class S>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    warp_specialized_kernel(const __grid_constant__ tile_maps<G, S> maps, G g, bool pairs,
                            int tile_rows, int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto& sync =
      *reinterpret_cast<barriers<S::kStages>*>(stages + S::kStages * smem_layout<G, S>::kStage);
  if (threadIdx.x == 0) sync.init(S::kWarpgroups);
  __syncthreads();

  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, S::kBK);
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (warpgroup == S::kWarpgroups) {
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (threadIdx.x % kzoo::kWarpgroup == 0) produce<G, S>(maps, k_tiles, row0, col0, stages, sync);
  } else {
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    position<S::kStages> at;
    float acc[S::kAccumulators];  // (64, BN) of a warpgroup
    const auto release = [&](int stage) {
      if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
    };
    consume<G, S>(
        stages, sync, at, k_tiles, warpgroup * 64, release, [](int) {}, acc);
    wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
  }
}

template <class S>
struct step : tma::block_per_tile<step<S>, S> {
  static constexpr int kThreads = warp_specialized::kThreads<S>;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, S>::kBytes + sizeof(barriers<S::kStages>);
  template <class G>
  static constexpr auto kernel = warp_specialized_kernel<G, S>;
};

template <int BM, int BN, int Stages>
using variant = tma::tile_variant<step<wgmma::tiling<BM, BN, Stages, 1>>>;

}  // namespace warp_specialized

KZOO_PLUGIN(
    "warp_specialized", "A producer and two consumer warpgroups",
    (kzoo::variant<warp_specialized::variant<128, 64, 8>>("128x64x64",
                                                          "8 stages; for matrices with few tiles")),
    (kzoo::variant<warp_specialized::variant<128, 128, 6>>("128x128x64", "6 stages")),
    (kzoo::variant<warp_specialized::variant<128, 256, 4>>("128x256x64",
                                                           "4 stages; for large matrices")));
