// The step before this with another way into shared memory: one thread asks the copy engine for
// whole tiles, and an mbarrier per stage says when they have arrived.

#include <kzoo/threadblock_swizzle.hpp>

#include <tensor_cores/common/tma_operands.hpp>

namespace tma {

using wgmma::smem_layout;

// As in wgmma, with an mbarrier for each stage instead of groups of copies.
template <class G, class S>
__device__ __forceinline__ void multiply(const tile_maps<G, S>& maps, int k_tiles, int row0,
                                         int col0, int warpgroup_row, typename G::a_type* stages,
                                         kzoo::mbarrier* arrived, float (&acc)[S::kAccumulators]) {
  using L = smem_layout<G, S>;
  const auto load = [&](int k_tile) {
    if (threadIdx.x != 0 || k_tile >= k_tiles) return;
    const int number = k_tile % S::kStages;
    // Equivalent to cp.async.bulk.tensor of (BM, BK) of A and (BK, BN) of B.
    load_stage<G, S>(maps, stages + number * L::kStage, row0, col0, k_tile * S::kBK,
                     arrived[number]);
  };
  for (int k_tile = 0; k_tile < S::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const int stage = k_tile % S::kStages;
    arrived[stage].wait(k_tile / S::kStages % 2);
    __syncthreads();  // all warpgroups are done with the k tile before last
    wgmma::multiply_k_tile<G, S>(stages + stage * L::kStage, warpgroup_row, k_tile == 0, acc);
    load(k_tile + S::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
}

template <class G, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    tma_kernel(const __grid_constant__ tile_maps<G, S> maps, G g, bool pairs, int tile_rows,
               int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  auto* arrived =
      reinterpret_cast<kzoo::mbarrier*>(stages + S::kStages * smem_layout<G, S>::kStage);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < S::kStages; ++stage) arrived[stage].init(1);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();

  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[S::kAccumulators];  // (64, BN) of a warpgroup
  multiply<G, S>(maps, kzoo::ceil_div(g.k, S::kBK), row0, col0, warpgroup_row, stages, arrived,
                 acc);
  wgmma::store(pairs, g, row0 + warpgroup_row, col0, acc);
}

template <class S>
struct step : block_per_tile<step<S>, S> {
  static constexpr int kThreads = S::kThreads;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, S>::kBytes +
                                        S::kStages * sizeof(kzoo::mbarrier);
  template <class G>
  static constexpr auto kernel = tma_kernel<G, S>;
};

template <int BM, int BN, int Stages, int BlocksPerSm>
using variant = tile_variant<step<wgmma::tiling<BM, BN, Stages, BlocksPerSm>>>;

}  // namespace tma

KZOO_PLUGIN("tma", "Tiles by the copy engine, warpgroup products",
            (kzoo::variant<tma::variant<128, 64, 4, 2>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles")),
            (kzoo::variant<tma::variant<128, 128, 3, 2>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM")));
