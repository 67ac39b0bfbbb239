// Hopper's tensor core instruction: four warps, a warpgroup, multiply 64 rows of A by all of B's
// tile, both read from shared memory by the tensor cores themselves. Copies are as in mma, and so
// is the swizzle.

#include <kzoo/mbarrier.hpp>
#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/vector_variant.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

namespace wgmma {

// acc = a warpgroup's part of the block's tile of C; `stages`: kStages of (BM, BK) of A and (BK,
// BN) of B. Its products are asynchronous: those of one k tile run while those of the next are
// started. So a stage is free one k tile later than in mma, and the copies are kStages - 2 ahead.
//
//   stage   0          1           2         3           (kStages = 4)
//           running    starting    arriving  loading     start k tile 1, load 3, wait for 0
//           loading    running     starting  arriving    start k tile 2, load 4, wait for 1
template <class G, class Tile, bool kAligned>
__device__ __forceinline__ void multiply(const G& g, int k_tiles, int row0, int col0,
                                         int warpgroup_row, typename G::a_type* stages,
                                         float (&acc)[Tile::kAccumulators]) {
  using Smem = smem_layout<G, Tile>;
  const auto load = [&](int k_tile) {
    if (k_tile < k_tiles) {
      constexpr int kWidth = kAligned ? 8 : 1;
      auto* stage = stages + k_tile % Tile::kStages * Smem::kStage;
      common::copy_k_tile<typename Smem::a_tile, Tile::kThreads, kWidth>(common::a_of(g), stage,
                                                                         row0, k_tile * Tile::kBK);
      common::copy_k_tile<typename Smem::b_tile, Tile::kThreads, kWidth>(
          common::b_of(g), Smem::b_of(stage), col0, k_tile * Tile::kBK);
    }
    kzoo::commit_group();
  };
  for (int k_tile = 0; k_tile < Tile::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<Tile::kStages - 3>();  // this thread's copies to this stage have arrived
    kzoo::fence_async_proxy();              // and are visible to wgmma
    // This stage is complete, and all warpgroups are done with the one before last.
    __syncthreads();
    // Equivalent to BK / 16 times wgmma.mma_async of (64, 16) of A and (16, BN) of B.
    multiply_k_tile<G, Tile>(stages + k_tile % Tile::kStages * Smem::kStage, warpgroup_row,
                             k_tile == 0, acc);
    load(k_tile + Tile::kStages - 2);
    kzoo::wgmma_wait<1>();  // the products of the k tile before are done
  }
  kzoo::wgmma_wait<0>(acc);  // all products are done, and acc may be read
  kzoo::wait_group<0>();
}

template <class G, class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    wgmma_kernel(G g, int tile_rows, int tile_cols) {
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[Tile::kAccumulators];  // (64, BN) of a warpgroup
  multiply<G, Tile, kAligned>(g, kzoo::ceil_div(g.k, Tile::kBK), row0, col0, warpgroup_row,
                              kzoo::dynamic_shared<typename G::a_type>(), acc);
  store(common::pairs_aligned(g), g, row0 + warpgroup_row, col0, acc);
}

template <class Tile>
struct traits {
  using tiling = Tile;
  static constexpr std::size_t kBytes = smem_layout<kzoo::gemm<__half>, Tile>::kBytes;
  template <class G, bool kAligned>
  static constexpr auto kernel = wgmma_kernel<G, Tile, kAligned>;
};

template <int BM, int BN, int Stages, int BlocksPerSm>
using variant =
    common::vector_variant<traits<tiling<BM, BN, Stages, BlocksPerSm>>, common::on_hopper,
                           hopper_variant::types, kzoo::every_layout>;

}  // namespace wgmma

KZOO_PLUGIN("wgmma", "Warpgroup products from shared memory, tiles copied by cp.async",
            (kzoo::variant<wgmma::variant<128, 64, 4, 2>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles")),
            (kzoo::variant<wgmma::variant<128, 128, 3, 2>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM")));
