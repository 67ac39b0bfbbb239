// Tensor cores that stay busy. Against wmma_simple: a warp has 64 x 64 of C in 16 fragments, so
// that each fragment of A and B is used four times; and a software pipeline of two levels. k tiles
// arrive by asynchronous copies, kStages - 1 ahead, in stages of shared memory that are used in
// turn; fragments are loaded one step ahead of their multiplication.
//
//   global memory  --copy_async-->  stages  --load_from_shared-->  fragments  --mma_sync-->  acc
//                   kStages - 1 k tiles ahead             one step ahead

#include <kzoo/threadblock_swizzle.hpp>

#include "wmma_tile.hpp"

namespace wmma_tiles {

// acc = a warp's part of the block's tile of C.
//
//   stage   0         1         2         3           (kStages = 4)
//           reading   arriving  arriving  loading     multiply k tile 0, start to load 3
//           loading   reading   arriving  arriving    multiply k tile 1, start to load 4
template <class G, class S, class E>
__device__ __forceinline__ void multiply(const common::matrix<E>& a, const common::matrix<E>& b,
                                         int k_tiles, int row0, int col0, int warp_row,
                                         int warp_col, E* stages, accumulators<G, S>& acc) {
  using L = smem_layout<G, S>;
  stage_loader<G, S> loader(a, b, row0, col0);
  const auto load = [&](int k_tile, E* stage) {
    if (k_tile < k_tiles) loader.load(stage);
    kzoo::commit_group();
  };
  for (int stage = 0; stage < S::kStages - 1; ++stage) load(stage, stages + stage * L::kStage);
  fill_zero<G, S>(acc);

  fragments<G, S> sets[2];  // (WM, 16) of A and (16, WN) of B, each
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, warp_row, warp_col, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + reading * L::kStage;  // (BM, BK) of A, (BK, BN) of B
    const int next = reading + 1 == S::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? S::kStages - 1 : reading - 1;  // all threads have read it
    load(k_tile + S::kStages - 1, stages + free * L::kStage);
#pragma unroll
    for (int step = 0; step < L::kSteps; ++step) {
      if (step + 1 < L::kSteps) {
        sets[(step + 1) % 2].load(stage, warp_row, warp_col, (step + 1) * L::kFragmentK);
      } else {
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * L::kStage, warp_row, warp_col, 0);
      }
      sets[step % 2].multiply(acc);
    }
    reading = next;
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the stages are free
}

template <class G, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    wmma_kernel(G g, common::matrix<typename G::a_type> a, common::matrix<typename G::a_type> b,
                bool pairs, int tile_rows, int tile_cols) {
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / S::kWarpsN * S::kWM, warp_col = warp % S::kWarpsN * S::kWN;
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  accumulators<G, S> acc;  // (WM, WN)
  multiply<G, S>(a, b, kzoo::ceil_div(g.k, S::kBK), row0, col0, warp_row, warp_col, stages, acc);
  store<G, S>(pairs, g, acc, stages, row0 + warp_row, col0 + warp_col);
}

template <class S>
struct step {
  using tiling = S;
  template <class G>
  static constexpr std::size_t kBytes = smem_layout<G, S>::kBytes;
  template <class G>
  static constexpr auto kernel = wmma_kernel<G, S>;
};

template <class S, class Types, class Layouts = kzoo::every_layout>
using pipelined = common::aligned_variant<step<S>, Types, Layouts>;

using same_types = kzoo::types<float, __half, __nv_bfloat16>;
using all_types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                              kzoo::to<__nv_bfloat16, float>>;
using nn = kzoo::layouts<kzoo::layout::nn>;

}  // namespace wmma_tiles

using wmma_tiles::pipelined;
using wmma_tiles::tiling;

// What is rarely the fastest is not built for everything.
KZOO_PLUGIN("wmma", "Tensor cores through WMMA fragments",
            kzoo::variant<pipelined<tiling<128, 64, 32, 64, 32, 4, 2>, wmma_tiles::same_types>>(
                "128x64x32_64x32", "4 warps, 4 stages; for matrices with few tiles"),
            kzoo::variant<pipelined<tiling<128, 128, 32, 64, 64, 3, 2>, wmma_tiles::same_types,
                                    wmma_tiles::nn>>("128x128x32_64x64",
                                                     "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<pipelined<tiling<128, 256, 32, 64, 64, 4, 1>, wmma_tiles::all_types>>(
                "128x256x32_64x64", "8 warps, 4 stages; for large matrices"));
