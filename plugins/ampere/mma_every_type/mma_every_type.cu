// The ladder's mma for more types and layouts: fp32 matrices are multiplied as TF32, i8 matrices
// with integer accumulators.

#include <ampere/common/aligned_variant.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/threadblock_swizzle.hpp>

#include <cstddef>

#include "mma_tile.hpp"

namespace mma {

// acc = a warp's part of the block's tile of C. As in wmma, k tiles arrive kStages - 1 ahead, and
// fragments one k step ahead of their multiplication.
template <class G, class Tile, class E>
__device__ __forceinline__ void multiply(const common::a_view<G>& a, const common::b_view<G>& b,
                                         int k_tiles, int row0, int col0,
                                         const lane_offsets<smem_layout<G, Tile>>& lane, E* stages,
                                         accumulators<G, Tile>& acc) {
  using Smem = smem_layout<G, Tile>;
  const auto load = [&](int k_tile, E* stage) {
    if (k_tile < k_tiles) {
      const int k = k_tile * Smem::kBK;
      // Equivalent to a copy_async<16> for each 16 bytes of the tile, to their place in the
      // swizzle.
      common::copy_k_tile<typename Smem::a_operand, Tile::kThreads, Smem::kVector>(a, stage, row0,
                                                                                   k);
      common::copy_k_tile<typename Smem::b_operand, Tile::kThreads, Smem::kVector>(
          b, stage + Smem::a_operand::kElements, col0, k);
    }
    kzoo::commit_group();
  };
  for (int i = 0; i < Tile::kStages - 1; ++i) load(i, stages + i * Smem::kStage);

  fragments<G, Tile> sets[2];  // (WM, 16) of A and (16, WN) of B, each
  kzoo::wait_group<Tile::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, lane, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + reading * Smem::kStage;  // (BM, BK) of A, (BK, BN) of B
    const int next = reading + 1 == Tile::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? Tile::kStages - 1 : reading - 1;  // all threads have read it
    load(k_tile + Tile::kStages - 1, stages + free * Smem::kStage);
#pragma unroll
    for (int step = 0; step < Smem::kSteps; ++step) {
      if (step + 1 < Smem::kSteps) {
        sets[(step + 1) % 2].load(stage, lane, (step + 1) * Smem::kInstructionK);
      } else {
        kzoo::wait_group<Tile::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * Smem::kStage, lane, 0);
      }
      sets[step % 2].multiply(acc);
    }
    reading = next;
  }
  kzoo::wait_group<0>();
}

template <class G, class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    mma_kernel(G g, common::a_view<G> a, common::b_view<G> b, bool pairs, int tile_rows,
               int tile_cols) {
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / Tile::kWarpsN * Tile::kWM,
            warp_col = warp % Tile::kWarpsN * Tile::kWN;
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;

  using Smem = smem_layout<G, Tile>;
  accumulators<G, Tile> acc = {};  // (WM, WN)
  multiply<G, Tile>(a, b, kzoo::ceil_div(g.k, Smem::kBK), row0, col0,
                    lane_offsets<Smem>::of(warp_row, warp_col),
                    kzoo::dynamic_shared<typename G::a_type>(), acc);
  store<G, Tile>(pairs, g, acc, row0 + warp_row, col0 + warp_col);
}

using same_types = kzoo::types<float, __half, __nv_bfloat16>;
using all_types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                              kzoo::to<__nv_bfloat16, float>, kzoo::to<signed char, int>>;

template <class Tile>
struct traits {
  using tiling = Tile;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes;
  template <class G>
  static constexpr auto kernel = mma_kernel<G, Tile>;
};

template <class Tile, class Types, class Layouts = kzoo::every_layout>
using variant = common::aligned_variant<traits<Tile>, Types, Layouts>;

}  // namespace mma

using mma::tiling;

// What is rarely the fastest is not built for everything.
KZOO_PLUGIN("mma_every_type", "mma for TF32, i8 and all layouts",
            kzoo::variant<mma::variant<tiling<128, 64, 64, 32, 3, 2>, mma::same_types>>(
                "128x64x64_64x32", "4 warps, 3 stages; for matrices with few tiles"),
            kzoo::variant<mma::variant<tiling<128, 128, 64, 64, 3, 2>, mma::same_types,
                                       kzoo::layouts<kzoo::layout::nn>>>(
                "128x128x64_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<mma::variant<tiling<128, 256, 64, 64, 4, 1>, mma::all_types>>(
                "128x256x64_64x64", "8 warps, 4 stages; for large matrices"));
