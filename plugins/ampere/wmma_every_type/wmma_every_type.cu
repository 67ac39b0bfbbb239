// The ladder's wmma for more types and layouts: fp32 matrices are rounded to TF32, C may be in
// fp32, and k tiles lie in shared memory as the matrices do.
//
//   global memory  --copy_async-->  stages  --load_from_shared-->  fragments  --mma_sync-->  acc
//                   kStages - 1 k tiles ahead             one k step ahead

#include <kzoo/threadblock_swizzle.hpp>

#include "wmma_tile.hpp"

namespace wmma_tiles {

// acc = a warp's part of the block's tile of C.
//
//   stage   0         1         2         3           (kStages = 4)
//           reading   arriving  arriving  loading     multiply k tile 0, start to load 3
//           loading   reading   arriving  arriving    multiply k tile 1, start to load 4
template <class G, class Tile, class E>
__device__ __forceinline__ void multiply(const common::a_view<G>& a, const common::b_view<G>& b,
                                         int k_tiles, int row0, int col0, int warp_row,
                                         int warp_col, E* stages, accumulators<G, Tile>& acc) {
  using Smem = smem_layout<G, Tile>;
  stage_loader<G, Tile> loader(a, b, row0, col0);
  const auto load = [&](int k_tile, E* stage) {
    if (k_tile < k_tiles) loader.load(stage);
    kzoo::commit_group();
  };
  for (int i = 0; i < Tile::kStages - 1; ++i) load(i, stages + i * Smem::kStage);
  fill_zero<G, Tile>(acc);

  fragments<G, Tile> sets[2];  // (WM, 16) of A and (16, WN) of B, each
  kzoo::wait_group<Tile::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, warp_row, warp_col, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + reading * Smem::kStage;  // (BM, BK) of A, (BK, BN) of B
    const int next = reading + 1 == Tile::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? Tile::kStages - 1 : reading - 1;  // all threads have read it
    load(k_tile + Tile::kStages - 1, stages + free * Smem::kStage);
#pragma unroll
    for (int step = 0; step < Smem::kSteps; ++step) {
      if (step + 1 < Smem::kSteps) {
        sets[(step + 1) % 2].load(stage, warp_row, warp_col, (step + 1) * Smem::kFragmentK);
      } else {
        kzoo::wait_group<Tile::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * Smem::kStage, warp_row, warp_col, 0);
      }
      sets[step % 2].multiply(acc);
    }
    reading = next;
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the stages are free
}

// a, b: A and B as they lie in memory, transposed or not. pairs: two neighbours of C may be stored
// as one word.
template <class G, class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    wmma_kernel(G g, common::a_view<G> a, common::b_view<G> b, bool pairs, int tile_rows,
                int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();  // kStages of (BM, BK) and (BK, BN)
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / Tile::kWarpsN * Tile::kWM,
            warp_col = warp % Tile::kWarpsN * Tile::kWN;
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * Tile::kBM, col0 = tile.col * Tile::kBN;

  accumulators<G, Tile> acc;  // (WM, WN)
  multiply<G, Tile>(a, b, kzoo::ceil_div(g.k, Tile::kBK), row0, col0, warp_row, warp_col, stages,
                    acc);
  store<G, Tile>(pairs, g, acc, stages, row0 + warp_row, col0 + warp_col);
}

template <class Tile>
struct traits {
  using tiling = Tile;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, Tile>::kBytes;
  template <class G>
  static constexpr auto kernel = wmma_kernel<G, Tile>;
};

template <class Tile, class Types, class Layouts = kzoo::every_layout>
using variant = common::aligned_variant<traits<Tile>, Types, Layouts>;

using same_types = kzoo::types<float, __half, __nv_bfloat16>;
using all_types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                              kzoo::to<__nv_bfloat16, float>>;

}  // namespace wmma_tiles

using wmma_tiles::tiling;

// What is rarely the fastest is not built for everything.
KZOO_PLUGIN(
    "wmma_every_type", "wmma for TF32 and all layouts",
    kzoo::variant<wmma_tiles::variant<tiling<128, 64, 32, 64, 32, 4, 2>, wmma_tiles::same_types>>(
        "128x64x32_64x32", "4 warps, 4 stages; for matrices with few tiles"),
    kzoo::variant<wmma_tiles::variant<tiling<128, 128, 32, 64, 64, 3, 2>, wmma_tiles::same_types,
                                      kzoo::layouts<kzoo::layout::nn>>>(
        "128x128x32_64x64", "4 warps, 3 stages, two blocks per SM"),
    kzoo::variant<wmma_tiles::variant<tiling<128, 256, 32, 64, 64, 4, 1>, wmma_tiles::all_types>>(
        "128x256x32_64x64", "8 warps, 4 stages; for large matrices"));
