// Tensor cores through mma.sync, whose operands lie in known registers of known lanes: ldmatrix
// brings them there from swizzled tiles, and C goes straight from the accumulators to memory. fp32
// matrices are multiplied as TF32.

#include <common/for_gemm.hpp>
#include <common/launch_tiles.hpp>
#include <common/store_pairs.hpp>
#include <common/swizzled_copy.hpp>
#include <common/threadblock_swizzle.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>

#include "fragments.hpp"

namespace mma {

// acc = a warp's part of the block's tile of C. As in wmma, k tiles arrive kStages - 1 ahead, and
// fragments one step ahead of their multiplication.
template <class T, class S, int kWidth>
__device__ __forceinline__ void multiply(const kzoo::gemm<T>& g, int row0, int col0,
                                         const warp_position& warp, T* stages,
                                         float (&acc)[S::kRows][S::kCols][4]) {
  using L = layout<T, S>;
  const common::matrix<T> a{g.a, g.lda, g.m, g.k}, b{g.b, g.ldb, g.k, g.n};
  const int k_tiles = kzoo::ceil_div(g.k, L::kBK);
  const auto load = [&](int k_tile, T* stage) {
    if (k_tile < k_tiles) {
      common::swizzled_copy<typename L::a_tile, S::kThreads, kWidth>(a, stage, row0,
                                                                     k_tile * L::kBK);
      common::swizzled_copy<typename L::b_tile, S::kThreads, kWidth>(
          b, stage + L::a_tile::kElements, k_tile * L::kBK, col0);
    }
    kzoo::commit_group();
  };
  for (int stage = 0; stage < S::kStages - 1; ++stage) load(stage, stages + stage * L::kStage);

  fragments<T, S> sets[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, warp, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const T* stage = stages + reading * L::kStage;
    const int next = reading + 1 == S::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? S::kStages - 1 : reading - 1;  // all threads have read it
    load(k_tile + S::kStages - 1, stages + free * L::kStage);
#pragma unroll
    for (int step = 0; step < L::kSteps; ++step) {
      if (step + 1 < L::kSteps) {
        sets[(step + 1) % 2].load(stage, warp, (step + 1) * L::kStep);
      } else {
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * L::kStage, warp, 0);
      }
      sets[step % 2].multiply(acc);
    }
    reading = next;
  }
  kzoo::wait_group<0>();
}

template <class T, class S, int kWidth, bool kPairs>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    kernel(kzoo::gemm<T> g, int tile_rows, int tile_cols) {
  const int lane = threadIdx.x % 32;
  const warp_position warp = warp_position::of<S>(threadIdx.x / 32);
  const auto tile = common::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  float acc[S::kRows][S::kCols][4] = {};
  multiply<T, S, kWidth>(g, row0, col0, warp, kzoo::dynamic_shared<T>(), acc);

#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      const int row = row0 + warp.row + 16 * i + lane / 4;
      const int col = col0 + warp.col + 8 * j + lane % 4 * 2;
      common::store_pair<kPairs>(g, row, col, acc[i][j][0], acc[i][j][1]);
      common::store_pair<kPairs>(g, row + 8, col, acc[i][j][2], acc[i][j][3]);
    }
  }
}

template <class S>
struct variant {
  using types = kzoo::types<__half, __nv_bfloat16, float>;
  template <class T>
  static constexpr kzoo_precision precision_of = sizeof(T) == 4
                                                     ? KZOO_COMPUTE_TF32
                                                     : kzoo::element_traits<T>::precision;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem&, const kzoo_device& d) {
    return d.kind == KZOO_CPU || layout<__half, S>::kBytes <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }

  variant(const kzoo_problem& p, const kzoo_device&) {
    common::for_gemm_of(p, types{}, kzoo::layouts<kzoo::layout::nn>{}, [](auto of) {
      using T = typename decltype(of)::type::element;
      kzoo::allow_dynamic_shared(kernel<T, S, layout<T, S>::kVector, true>, layout<T, S>::kBytes);
      kzoo::allow_dynamic_shared(kernel<T, S, 1, false>, layout<T, S>::kBytes);
    });
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    common::launch_tiles<S>(pick(g), g, S::kThreads, layout<T, S>::kBytes, stream, g);
  }

 private:
  // Does each row start at a multiple of 16 bytes, and end at one?
  template <class T>
  static auto pick(const kzoo::gemm<T>& g) {
    constexpr int kVector = layout<T, S>::kVector;
    const bool aligned = g.k % kVector == 0 && g.n % kVector == 0 && g.rows_aligned(16);
    return aligned ? kernel<T, S, kVector, true> : kernel<T, S, 1, false>;
  }
};

}  // namespace mma

using mma::tiling;

KZOO_PLUGIN("mma", "Tensor cores through mma.sync and ldmatrix",
            kzoo::variant<mma::variant<tiling<128, 64, 64, 32, 3, 2>>>(
                "128x64x64_64x32", "4 warps, 3 stages; for matrices with few tiles"),
            kzoo::variant<mma::variant<tiling<128, 128, 64, 64, 3, 2>>>(
                "128x128x64_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<mma::variant<tiling<128, 256, 64, 64, 4, 1>>>(
                "128x256x64_64x64", "8 warps, 4 stages; for large matrices"));
