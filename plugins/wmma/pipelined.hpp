#pragma once
// Tensor cores that stay busy: large tiles, so that each value loaded is used often, and a software
// pipeline of two levels. k tiles arrive by asynchronous copies, kStages - 1 ahead, in stages of
// shared memory that are used in turn; fragments are loaded one step ahead of their multiplication.
//
//   global memory  --copy_async-->  stages  --load_from_shared-->  fragments  --mma_sync-->  acc
//                   kStages - 1 k tiles ahead             one step ahead

#include <common/for_gemm.hpp>
#include <common/launch_tiles.hpp>
#include <common/threadblock_swizzle.hpp>

#include "epilogue.hpp"
#include "stages.hpp"

namespace tensor {

// What a warp multiplies in one step: kFragmentK columns of its rows of A, and rows of its columns
// of B.
template <class T, class S>
struct fragments {
  using L = layout<T, S>;
  fragment_a<T> a[S::kRows];
  fragment_b<T> b[S::kCols];

  __device__ __forceinline__ void load(const T* stage, int warp_row, int warp_col, int k) {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      kzoo::load_from_shared(a[i], stage + (warp_row + i * kFragment) * L::kARow + k, L::kARow);
    }
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      kzoo::load_from_shared(b[j], stage + L::kAElements + k * L::kBRow + warp_col + j * kFragment,
                             L::kBRow);
    }
  }

  __device__ __forceinline__ void multiply(fragment_c<T> (&acc)[S::kRows][S::kCols]) {
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
template <class T, class S, class Loader>
__device__ __forceinline__ void multiply(Loader& loader, int k_tiles, int warp_row, int warp_col,
                                         T* stages, fragment_c<T> (&acc)[S::kRows][S::kCols]) {
  using L = layout<T, S>;
  for (int stage = 0; stage < S::kStages - 1; ++stage) {
    if (stage < k_tiles) loader.load(stages + stage * L::kStage);
    kzoo::commit_group();
  }
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  }

  fragments<T, S> sets[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, warp_row, warp_col, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const T* stage = stages + reading * L::kStage;
    const int next = reading + 1 == S::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? S::kStages - 1 : reading - 1;  // all threads have read it
    if (k_tile + S::kStages - 1 < k_tiles) loader.load(stages + free * L::kStage);
    kzoo::commit_group();
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

template <class T, class S, bool kAligned>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    pipelined_kernel(kzoo::gemm<T> g, int tile_rows, int tile_cols) {
  using L = layout<T, S>;
  T* stages = kzoo::dynamic_shared<T>();
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / S::kWarpsN * S::kWM, warp_col = warp % S::kWarpsN * S::kWN;

  const auto tile = common::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  tile_loader<T, S, kAligned ? L::kVector : 1> loader(g, row0, col0);
  fragment_c<T> acc[S::kRows][S::kCols];
  multiply<T, S>(loader, kzoo::ceil_div(g.k, S::kBK), warp_row, warp_col, stages, acc);
  store<T, S, kAligned>(g, acc, reinterpret_cast<float*>(stages) + warp * L::kCStrip,
                        row0 + warp_row, col0 + warp_col);
}

template <class S>
struct pipelined {
  using types = kzoo::types<float, __half, __nv_bfloat16>;
  template <class T>
  static constexpr kzoo_precision precision_of = input_precision<T>;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    const std::size_t needed =
        p.type_c == KZOO_F32 ? layout<float, S>::kBytes : layout<__half, S>::kBytes;
    return d.kind == KZOO_CPU || needed <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }

  pipelined(const kzoo_problem& p, const kzoo_device&) {
    common::for_gemm_of(p, types{}, kzoo::layouts<kzoo::layout::nn>{}, [](auto of) {
      using T = typename decltype(of)::type::element;
      kzoo::allow_dynamic_shared(pipelined_kernel<T, S, true>, layout<T, S>::kBytes);
      kzoo::allow_dynamic_shared(pipelined_kernel<T, S, false>, layout<T, S>::kBytes);
    });
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    common::launch_tiles<S>(
        aligned(g) ? pipelined_kernel<T, S, true> : pipelined_kernel<T, S, false>, g, S::kThreads,
        layout<T, S>::kBytes, stream, g);
  }

 private:
  // Does each row start at a multiple of 16 bytes, and end at one?
  template <class T>
  static bool aligned(const kzoo::gemm<T>& g) {
    constexpr int kVector = layout<T, S>::kVector;
    return g.k % kVector == 0 && g.n % kVector == 0 && g.rows_aligned(16);
  }
};

}  // namespace tensor
