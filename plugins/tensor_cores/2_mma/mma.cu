// Tensor cores through mma.sync, whose operands lie in known registers of known lanes: ldmatrix
// brings them there from swizzled tiles, and C goes straight from the accumulators to memory. fp32
// matrices are multiplied as TF32.

#include <kzoo/threadblock_swizzle.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>
#include <tensor_cores/common/aligned_variant.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstddef>

#include "fragments.hpp"

namespace mma {

// acc = a warp's part of the block's tile of C. As in wmma, k tiles arrive kStages - 1 ahead, and
// fragments one step ahead of their multiplication.
template <class G, class S, class E>
__device__ __forceinline__ void multiply(const common::matrix<E>& a, const common::matrix<E>& b,
                                         int k_tiles, int row0, int col0,
                                         const lane_offsets<layout<G, S>>& lane, E* stages,
                                         accumulators<G, S>& acc) {
  using L = layout<G, S>;
  const auto load = [&](int k_tile, E* stage) {
    if (k_tile < k_tiles) {
      const int k = k_tile * L::kBK;
      common::copy_k_tile<typename L::a_operand, S::kThreads, L::kVector>(a, stage, row0, k);
      common::copy_k_tile<typename L::b_operand, S::kThreads, L::kVector>(
          b, stage + L::a_operand::kElements, col0, k);
    }
    kzoo::commit_group();
  };
  for (int stage = 0; stage < S::kStages - 1; ++stage) load(stage, stages + stage * L::kStage);

  fragments<G, S> sets[2];
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();  // stage 0 is complete
  sets[0].load(stages, lane, 0);

  int reading = 0;  // a stage
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const E* stage = stages + reading * L::kStage;
    const int next = reading + 1 == S::kStages ? 0 : reading + 1;
    const int free = reading == 0 ? S::kStages - 1 : reading - 1;  // all threads have read it
    load(k_tile + S::kStages - 1, stages + free * L::kStage);
#pragma unroll
    for (int step = 0; step < L::kSteps; ++step) {
      if (step + 1 < L::kSteps) {
        sets[(step + 1) % 2].load(stage, lane, (step + 1) * L::kStep);
      } else {
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and all threads have read this one
        sets[0].load(stages + next * L::kStage, lane, 0);
      }
      sets[step % 2].multiply(acc);
    }
    reading = next;
  }
  kzoo::wait_group<0>();
}

// A warp's accumulators into C, from (row0, col0) on, in pairs of neighbouring columns: those with
// numbers n and n + 1, or n and n + 8 where even and odd columns were sorted apart.
template <bool kPairs, class G, class S>
__device__ __forceinline__ void store(const G& g, int row0, int col0,
                                      const accumulators<G, S>& acc) {
  using rows = typename layout<G, S>::a_operand;
  using cols = typename layout<G, S>::b_operand;
  constexpr bool kApart = cols::line(8) == 1;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const int row = row0 + rows::line(16 * i + 4 * e + lane / 4);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) {
        const int block = j / 2 * 2, odd = j % 2;  // two blocks of 8 columns
        const int col =
            col0 + cols::line(8 * (kApart ? block : j) + lane % 4 * 2 + (kApart ? odd : 0));
        if constexpr (kApart) {
          common::store_pair<kPairs>(g, row, col, acc[i][block][e + odd],
                                     acc[i][block + 1][e + odd]);
        } else {
          common::store_pair<kPairs>(g, row, col, acc[i][j][e], acc[i][j][e + 1]);
        }
      }
    }
  }
}

template <class G, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    tile_kernel(G g, common::matrix<typename G::a_type> a, common::matrix<typename G::a_type> b,
                bool pairs, int tile_rows, int tile_cols) {
  const warp_position warp = warp_position::of<S>(threadIdx.x / 32);
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;

  using L = layout<G, S>;
  accumulators<G, S> acc = {};
  multiply<G, S>(a, b, kzoo::ceil_div(g.k, L::kBK), row0, col0, lane_offsets<L>::of(warp),
                 kzoo::dynamic_shared<typename G::a_type>(), acc);
  if (pairs) {
    store<true, G, S>(g, row0 + warp.row, col0 + warp.col, acc);
  } else {
    store<false, G, S>(g, row0 + warp.row, col0 + warp.col, acc);
  }
}

using same_types = kzoo::types<__half, __nv_bfloat16, float>;
using all_types = kzoo::types<__half, __nv_bfloat16, kzoo::to<__half, float>,
                              kzoo::to<__nv_bfloat16, float>, float, kzoo::to<signed char, int>>;

template <class S>
struct step {
  using tiling = S;
  template <class G>
  static constexpr std::size_t kBytes = layout<G, S>::kBytes;
  template <class G>
  static constexpr auto kernel = tile_kernel<G, S>;
  template <class G>
  static bool wide_stores(const G& g) {
    return common::pairs_aligned(g);
  }
};

template <class S, class Types, class Layouts = kzoo::every_layout>
using variant = common::aligned_variant<step<S>, Types, Layouts>;

}  // namespace mma

using mma::tiling;

// What is rarely the fastest is not built for everything.
KZOO_PLUGIN("mma", "Tensor cores through mma.sync and ldmatrix",
            kzoo::variant<mma::variant<tiling<128, 64, 64, 32, 3, 2>, mma::same_types>>(
                "128x64x64_64x32", "4 warps, 3 stages; for matrices with few tiles"),
            kzoo::variant<mma::variant<tiling<128, 128, 64, 64, 3, 2>, mma::same_types,
                                       kzoo::layouts<kzoo::layout::nn>>>(
                "128x128x64_64x64", "4 warps, 3 stages, two blocks per SM"),
            kzoo::variant<mma::variant<tiling<128, 256, 64, 64, 4, 1>, mma::all_types>>(
                "128x256x64_64x64", "8 warps, 4 stages; for large matrices"));
