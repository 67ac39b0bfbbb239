#pragma once
// What the kernels on wgmma share: a block's tile of C, its stages, and a warpgroup's part of both.
// G is the kernel's kzoo::gemm: it says which types A, B and C have, and which are transposed. Tile
// is its tiling, Smem its smem_layout.

#include <kzoo/plugin.hpp>
#include <kzoo/warpgroup.hpp>
#include <kzoo/wgmma.hpp>
#include <tensor_cores/common/for_gemm.hpp>
#include <tensor_cores/common/on_hopper.hpp>
#include <tensor_cores/common/operand_tile.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstddef>

namespace wgmma {

// A block computes BM x BN of C; each of its warpgroups computes 64 rows of that.
template <int BM, int BN, int Stages, int BlocksPerSm, int BK = 64>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK;  // 128 bytes along K
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpgroups = BM / 64, kThreads = kzoo::kWarpgroup * kWarpgroups;
  static constexpr int kAccumulators = BN / 2;  // of a thread
  static_assert(BM % 64 == 0, "a warpgroup multiplies 64 rows");
};

// A k tile of an operand, as wgmma takes it.
template <class E, int MN, int BK, bool kKMajor>
struct operand_tile : common::operand_tile<E, MN, BK, kKMajor> {
  using tile = typename common::operand_tile<E, MN, BK, kKMajor>::tile;

  static __device__ __forceinline__ auto at(const E* from, int mn, int k) {
    if constexpr (kKMajor) {
      return kzoo::k_major<tile>(from, mn, k);
    } else {
      return kzoo::mn_major<tile>(from, k, mn);
    }
  }
};

// A stage: a k tile of A, then one of B.
template <class G, class Tile>
struct smem_layout {
  template <int MN>
  using a_tile_of = operand_tile<typename G::a_type, MN, Tile::kBK, !G::kATransposed>;
  template <int MN>
  using b_tile_of = operand_tile<typename G::b_type, MN, Tile::kBK, G::kBTransposed>;
  using a_tile = a_tile_of<Tile::kBM>;
  using b_tile = b_tile_of<Tile::kBN>;

  static constexpr int kVector =
      16 / int(sizeof(typename G::a_type));  // elements of a 16-byte copy
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  static constexpr int kStageBytes = kStage * int(sizeof(typename G::a_type));
  static constexpr std::size_t kBytes = std::size_t{Tile::kStages} * kStageBytes;
  static_assert(sizeof(typename G::a_type) == sizeof(typename G::b_type));

  static __host__ __device__ auto* b_of(const typename G::a_type* stage) {
    return reinterpret_cast<const typename G::b_type*>(stage + a_tile::kElements);
  }
  static __host__ __device__ auto* b_of(typename G::a_type* stage) {
    return reinterpret_cast<typename G::b_type*>(stage + a_tile::kElements);
  }
};

// Starts acc += a warpgroup's rows of A times B, of one k tile; `first`: acc = that instead.
template <class G, class Tile>
__device__ __forceinline__ void multiply_k_tile(const typename G::a_type* stage, int row,
                                                bool first, float (&acc)[Tile::kAccumulators]) {
  using Smem = smem_layout<G, Tile>;
  constexpr int kInstructionK = 32 / int(sizeof(typename G::a_type));  // of an instruction, along K
  const auto* b = Smem::b_of(stage);
  kzoo::wgmma_fence();
#pragma unroll
  for (int k = 0; k < Tile::kBK; k += kInstructionK) {
    kzoo::wgmma<Tile::kBN>(acc, Smem::a_tile::at(stage, row, k), Smem::b_tile::at(b, 0, k),
                           k > 0 || !first);
  }
  kzoo::wgmma_commit();
}

// A warpgroup's accumulators into C, from (row0, col0) on. Warp w of it has rows 16 w to 16 w + 15;
// of a block of 8 columns there, a lane has two pairs, with r = lane / 4 and t = lane % 4:
//
//                        column 8 j + 2 t   8 j + 2 t + 1
//     row 16 w + r         acc[4 j]          acc[4 j + 1]
//     row 16 w + r + 8     acc[4 j + 2]      acc[4 j + 3]
template <bool kPairs, class G, int kCount>
__device__ __forceinline__ void store(const G& g, int row0, int col0, const float (&acc)[kCount]) {
  const int thread = threadIdx.x % kzoo::kWarpgroup;
  const int row = row0 + thread / 32 * 16 + thread % 32 / 4, col = col0 + thread % 4 * 2;
#pragma unroll
  for (int j = 0; j < kCount / 4; ++j) {
    common::store_pair<kPairs>(g, row, col + 8 * j, acc[4 * j], acc[4 * j + 1]);
    common::store_pair<kPairs>(g, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3]);
  }
}

template <class G, int kCount>
__device__ __forceinline__ void store(bool pairs, const G& g, int row0, int col0,
                                      const float (&acc)[kCount]) {
  if (pairs) {
    store<true>(g, row0, col0, acc);
  } else {
    store<false>(g, row0, col0, acc);
  }
}

// What all variants on wgmma have in common.
struct hopper_variant : common::on_hopper {
  using types =
      kzoo::types<__half, __nv_bfloat16, kzoo::to<__half, float>, kzoo::to<__nv_bfloat16, float>>;
  using layouts = kzoo::every_layout;
};

}  // namespace wgmma
