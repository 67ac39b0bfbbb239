// Hopper's tensor core instruction: four warps, a warpgroup, multiply 64 rows of A by all of B's
// tile, both read from shared memory by the tensor cores themselves. Copies are as in mma, and so
// is the swizzle.

#include <kzoo/mbarrier.hpp>
#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/aligned_variant.hpp>
#include <tensor_cores/common/wgmma_tile.hpp>

namespace wgmma {

// acc = a warpgroup's part of the block's tile of C. Its products are asynchronous: those of one k
// tile run while those of the next are started. So a stage is free one k tile later than in mma,
// and the copies are kStages - 2 ahead.
//
//   stage   0          1           2         3           (kStages = 4)
//           running    starting    arriving  loading     start k tile 1, wait for 0, load 3
//           loading    running     starting  arriving    start k tile 2, wait for 1, load 4
template <class G, class S>
__device__ __forceinline__ void multiply(const common::matrix<typename G::a_type>& a,
                                         const common::matrix<typename G::b_type>& b, int k_tiles,
                                         int row0, int col0, int warpgroup_row,
                                         typename G::a_type* stages,
                                         float (&acc)[S::kAccumulators]) {
  using L = smem_layout<G, S>;
  const auto load = [&](int k_tile) {
    if (k_tile < k_tiles) {
      auto* stage = stages + k_tile % S::kStages * L::kStage;
      common::copy_k_tile<typename L::a_tile, S::kThreads, L::kVector>(a, stage, row0,
                                                                       k_tile * S::kBK);
      common::copy_k_tile<typename L::b_tile, S::kThreads, L::kVector>(b, L::b_of(stage), col0,
                                                                       k_tile * S::kBK);
    }
    kzoo::commit_group();
  };
  for (int k_tile = 0; k_tile < S::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<S::kStages - 3>();
    kzoo::fence_async_proxy();
    __syncthreads();  // this stage is complete, and all warpgroups are done with the one before
                      // last
    // Equivalent to BK / 16 times wgmma.mma_async of (64, 16) of A and (16, BN) of B.
    multiply_k_tile<G, S>(stages + k_tile % S::kStages * L::kStage, warpgroup_row, k_tile == 0,
                          acc);
    load(k_tile + S::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
  kzoo::wait_group<0>();
}

template <class G, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    wgmma_kernel(G g, common::matrix<typename G::a_type> a, common::matrix<typename G::b_type> b,
                 bool pairs, int tile_rows, int tile_cols) {
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[S::kAccumulators];  // (64, BN) of a warpgroup
  multiply<G, S>(a, b, kzoo::ceil_div(g.k, S::kBK), row0, col0, warpgroup_row,
                 kzoo::dynamic_shared<typename G::a_type>(), acc);
  store(pairs, g, row0 + warpgroup_row, col0, acc);
}

template <class S>
struct step {
  using tiling = S;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, S>::kBytes;
  template <class G>
  static constexpr auto kernel = wgmma_kernel<G, S>;
};

template <int BM, int BN, int Stages, int BlocksPerSm>
using variant =
    common::aligned_variant<step<tiling<BM, BN, Stages, BlocksPerSm>>, hopper_variant::types,
                            kzoo::every_layout, common::on_hopper>;

}  // namespace wgmma

KZOO_PLUGIN("wgmma", "Warpgroup products from shared memory, tiles copied by cp.async",
            (kzoo::variant<wgmma::variant<128, 64, 4, 2>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles")),
            (kzoo::variant<wgmma::variant<128, 128, 3, 2>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM")));
