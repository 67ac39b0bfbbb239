// One warpgroup asks for tiles and does nothing else; two others multiply them and do nothing else.
// No barrier stops them all: each stage has two of its own, for full and for empty.

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/4_tma/operands.hpp>

#include "pipeline.hpp"

namespace warp_specialized {

using tma::tile_maps;
using wgmma::layout;

// One thread: k tiles into stages, each as soon as it is empty.
template <class G, class S>
__device__ __forceinline__ void produce(const tile_maps<G, S>& maps, int k_tiles, int row0,
                                        int col0, typename G::a_type* stages,
                                        barriers<S::kStages>& sync) {
  position<S::kStages> at;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, at.advance()) {
    sync.empty[at.stage].wait(at.parity ^ 1);  // at once, the first time round
    tma::load_stage<G, S>(maps, stages + at.stage * layout<G, S>::kStage, row0, col0,
                          k_tile * S::kBK, sync.full[at.stage]);
  }
}

template <class G, class S>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    tile_kernel(const __grid_constant__ tile_maps<G, S> maps, G g, bool pairs, int tile_rows,
                int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(stages + S::kStages * layout<G, S>::kStage);
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
    float acc[S::kAccumulators];
    const auto release = [&](int stage) {
      if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
    };
    consume<G, S>(
        stages, sync, at, k_tiles, warpgroup * 64, release, [](int) {}, acc);
    wgmma::store(pairs, g, row0 + warpgroup * 64, col0, acc);
  }
}

template <int BM, int BN, int Stages>
struct step {
  using tiling = wgmma::tiling<BM, BN, Stages, 1>;
  static constexpr int kThreads = warp_specialized::kThreads<tiling>;
  template <class G>
  static constexpr std::size_t kBytes = layout<G, tiling>::kBytes + sizeof(barriers<Stages>);
  template <class G>
  static constexpr auto kernel = tile_kernel<G, tiling>;
};

}  // namespace warp_specialized

using tma::tile_variant;
using warp_specialized::step;

KZOO_PLUGIN("warp_specialized", "A producer and two consumer warpgroups",
            kzoo::variant<tile_variant<step<128, 64, 8>>>("128x64x64",
                                                          "8 stages; for matrices with few tiles"),
            kzoo::variant<tile_variant<step<128, 128, 6>>>("128x128x64", "6 stages"),
            kzoo::variant<tile_variant<step<128, 256, 4>>>("128x256x64",
                                                           "4 stages; for large matrices"));
