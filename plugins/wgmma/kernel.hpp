#pragma once
// Warpgroups multiply straight from shared memory. Copies are as in mma, and so is the swizzle.

#include <common/swizzled_copy.hpp>
#include <common/threadblock_swizzle.hpp>
#include <kzoo/mbarrier.hpp>

#include "tile.hpp"

namespace wgmma {

// acc = a warpgroup's part of the block's tile of C. Its products are asynchronous: those of one k
// tile run while those of the next are started. So a stage is free one k tile later than in mma,
// and the copies are kStages - 2 ahead.
//
//   stage   0          1           2         3           (kStages = 4)
//           running    starting    arriving  loading     start k tile 1, wait for 0, load 3
//           loading    running     starting  arriving    start k tile 2, wait for 1, load 4
template <class T, class S, int kWidth>
__device__ __forceinline__ void multiply(const kzoo::gemm<T>& g, int row0, int col0,
                                         int warpgroup_row, T* stages,
                                         float (&acc)[S::kAccumulators]) {
  using L = layout<T, S>;
  const common::matrix<T> a{g.a, g.lda, g.m, g.k}, b{g.b, g.ldb, g.k, g.n};
  const int k_tiles = kzoo::ceil_div(g.k, S::kBK);
  const auto load = [&](int k_tile) {
    if (k_tile < k_tiles) {
      T* stage = stages + k_tile % S::kStages * L::kStage;
      common::swizzled_copy<typename L::a_tile, S::kThreads, kWidth>(a, stage, row0,
                                                                     k_tile * S::kBK);
      common::swizzled_copy<typename L::b_tile, S::kThreads, kWidth>(
          b, stage + L::a_tile::kElements, k_tile * S::kBK, col0);
    }
    kzoo::commit_group();
  };
  for (int k_tile = 0; k_tile < S::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<S::kStages - 3>();
    kzoo::fence_async_proxy();
    __syncthreads();  // this stage is complete, and all warpgroups are done with the one before
                      // last
    multiply_k_tile<T, S>(stages + k_tile % S::kStages * L::kStage, warpgroup_row, k_tile == 0,
                          acc);
    load(k_tile + S::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
  kzoo::wait_group<0>();
}

template <class T, class S, int kWidth, bool kPairs>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    kernel(kzoo::gemm<T> g, int tile_rows, int tile_cols) {
  const auto tile = common::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[S::kAccumulators];
  multiply<T, S, kWidth>(g, row0, col0, warpgroup_row, kzoo::dynamic_shared<T>(), acc);
  store<kPairs>(g, row0 + warpgroup_row, col0, acc);
}

template <class S>
struct variant : hopper_variant {
  static constexpr int kVector = 8;  // elements of a 16-byte copy

  variant(const kzoo_problem& p, const kzoo_device&) {
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    const int tile_rows = kzoo::ceil_div(g.m, S::kBM), tile_cols = kzoo::ceil_div(g.n, S::kBN);
    const bool aligned = g.k % kVector == 0 && g.n % kVector == 0 && g.rows_aligned(16);
    kzoo::launch({.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                  .block = dim3(S::kThreads),
                  .dynamic_shared = layout<T, S>::kBytes,
                  .max_threads = S::kThreads,
                  .stream = stream},
                 aligned ? kernel<T, S, kVector, true> : kernel<T, S, 1, false>, g, tile_rows,
                 tile_cols);
  }

 private:
  template <class T>
  static void prepare() {
    kzoo::allow_dynamic_shared(kernel<T, S, kVector, true>, layout<T, S>::kBytes);
    kzoo::allow_dynamic_shared(kernel<T, S, 1, false>, layout<T, S>::kBytes);
  }
};

}  // namespace wgmma
