#pragma once
// Tensor cores that stay busy: large tiles, so that each value loaded is used often, and a software
// pipeline of two levels. k tiles arrive by asynchronous copies, kStages - 1 ahead, in stages of
// shared memory that are used in turn; fragments are loaded one step ahead of their multiplication.
//
//   global memory  --copy_async-->  stages  --load_from_shared-->  fragments  --mma_sync-->  acc
//                   kStages - 1 k tiles ahead             one step ahead

#include <kzoo/threadblock_swizzle.hpp>
#include <tensor_cores/common/aligned_variant.hpp>

#include "epilogue.hpp"
#include "stages.hpp"

namespace tensor {

// What a warp multiplies in one step: kFragmentK columns of its rows of A, and rows of its columns
// of B.
template <class G, class S>
struct fragments {
  using L = layout<G, S>;
  using E = typename L::E;
  using a_tile = typename L::a_tile;
  using b_tile = typename L::b_tile;
  fragment_a<E, a_tile::kLinesAlongK> a[S::kRows];
  fragment_b<E, b_tile::kLinesAlongK> b[S::kCols];

  __device__ __forceinline__ void load(const E* stage, int warp_row, int warp_col, int k) {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      kzoo::load_from_shared(a[i], stage + a_tile::offset(warp_row + i * kFragment, k),
                             a_tile::kRow);
    }
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      kzoo::load_from_shared(
          b[j], stage + a_tile::kElements + b_tile::offset(warp_col + j * kFragment, k),
          b_tile::kRow);
    }
  }

  __device__ __forceinline__ void multiply(accumulators<G, S>& acc) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) round_inputs(b[j]);
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      round_inputs(a[i]);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
  }
};

// acc = a warp's part of the block's tile of C.
//
//   stage   0         1         2         3           (kStages = 4)
//           reading   arriving  arriving  loading     multiply k tile 0, start to load 3
//           loading   reading   arriving  arriving    multiply k tile 1, start to load 4
template <class G, class S, class E>
__device__ __forceinline__ void multiply(const common::matrix<E>& a, const common::matrix<E>& b,
                                         int k_tiles, int row0, int col0, int warp_row,
                                         int warp_col, E* stages, accumulators<G, S>& acc) {
  using L = layout<G, S>;
  tile_loader<typename L::a_tile, S::kThreads> a_loader(a, row0);
  tile_loader<typename L::b_tile, S::kThreads> b_loader(b, col0);
  const auto load = [&](int k_tile, E* stage) {
    if (k_tile < k_tiles) {
      a_loader.load(stage);
      b_loader.load(stage + L::a_tile::kElements);
    }
    kzoo::commit_group();
  };
  for (int stage = 0; stage < S::kStages - 1; ++stage) load(stage, stages + stage * L::kStage);
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  }

  fragments<G, S> sets[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, warp_row, warp_col, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + reading * L::kStage;
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
    pipelined_kernel(G g, common::matrix<typename G::a_type> a,
                     common::matrix<typename G::a_type> b, bool vec4s, int tile_rows,
                     int tile_cols) {
  using L = layout<G, S>;
  auto* stages = kzoo::dynamic_shared<typename G::a_type>();
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / S::kWarpsN * S::kWM, warp_col = warp % S::kWarpsN * S::kWN;
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  accumulators<G, S> acc;
  multiply<G, S>(a, b, kzoo::ceil_div(g.k, S::kBK), row0, col0, warp_row, warp_col, stages, acc);
  float* strip = reinterpret_cast<float*>(stages) + warp * L::kCStrip;
  if (vec4s) {
    store<true, G, S>(g, acc, strip, row0 + warp_row, col0 + warp_col);
  } else {
    store<false, G, S>(g, acc, strip, row0 + warp_row, col0 + warp_col);
  }
}

template <class S>
struct step {
  using tiling = S;
  template <class G>
  static constexpr std::size_t kBytes = layout<G, S>::kBytes;
  template <class G>
  static constexpr auto kernel = pipelined_kernel<G, S>;
  template <class G>
  static bool wide_stores(const G& g) {
    return vec4s_aligned(g);
  }
};

template <class S, class Types, class Layouts = kzoo::every_layout>
using pipelined = common::aligned_variant<step<S>, Types, Layouts>;

}  // namespace tensor
