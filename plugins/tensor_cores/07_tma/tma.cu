// wgmma with another way into shared memory: one thread asks the Tensor Memory Accelerator (TMA)
// for whole tiles, and an mbarrier per stage says when they have arrived.

#include <kzoo/threadblock_swizzle.hpp>

#include <tensor_cores/common/tma_operands.hpp>

namespace tma {

using wgmma::smem_layout;

// As in wgmma, with an mbarrier for each stage instead of groups of copies.
template <class G, class Tile>
__device__ __forceinline__ void multiply(const tile_maps<G, Tile>& maps, int k_tiles, int row0,
                                         int col0, int warpgroup_row, typename G::a_type* stages,
                                         kzoo::mbarrier* arrived,
                                         float (&acc)[Tile::kAccumulators]) {
  using Smem = smem_layout<G, Tile>;
  const auto load = [&](int k_tile) {
    if (threadIdx.x != 0 || k_tile >= k_tiles) return;
    const int number = k_tile % Tile::kStages;
    // Equivalent to cp.async.bulk.tensor of (BM, BK) of A and (BK, BN) of B.
    load_stage<G, Tile>(maps, stages + number * Smem::kStage, row0, col0, k_tile * Tile::kBK,
                        arrived[number]);
  };
  for (int k_tile = 0; k_tile < Tile::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const int stage = k_tile % Tile::kStages;
    // Phase k_tile / kStages of this barrier; phases have parity 0, 1, 0, ...
    arrived[stage].wait(k_tile / Tile::kStages % 2);
    __syncthreads();  // all warpgroups are done with the k tile before last
    wgmma::multiply_k_tile<G, Tile>(stages + stage * Smem::kStage, warpgroup_row, k_tile == 0, acc);
    load(k_tile + Tile::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
}

template <class G, class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    tma_kernel(const __grid_constant__ tile_maps<G, Tile> maps, G g, bool pairs, int tile_rows,
               int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  auto* arrived =
      reinterpret_cast<kzoo::mbarrier*>(stages + Tile::kStages * smem_layout<G, Tile>::kStage);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Tile::kStages; ++stage) arrived[stage].init(1);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();

  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[Tile::kAccumulators];  // (64, BN) of a warpgroup
  multiply<G, Tile>(maps, kzoo::ceil_div(g.k, Tile::kBK), row0, col0, warpgroup_row, stages,
                    arrived, acc);
  wgmma::store(pairs, g, row0 + warpgroup_row, col0, acc);
}

template <class Tile>
struct traits : block_per_tile<traits<Tile>, Tile> {
  static constexpr int kThreads = Tile::kThreads;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes +
                                        Tile::kStages * sizeof(kzoo::mbarrier);
  template <class G>
  static constexpr auto kernel = tma_kernel<G, Tile>;
};

template <int BM, int BN, int Stages, int BlocksPerSm>
using variant = tile_variant<traits<wgmma::tiling<BM, BN, Stages, BlocksPerSm>>>;

}  // namespace tma

KZOO_PLUGIN("tma", "Tiles by TMA, warpgroup products",
            (kzoo::variant<tma::variant<128, 64, 4, 2>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles")),
            (kzoo::variant<tma::variant<128, 128, 3, 2>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM")));
