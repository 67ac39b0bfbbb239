#pragma once
// What a block of mma has in shared memory, what a warp multiplies, and the epilogue.

#include <kzoo/plugin.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cstddef>

#include "mn_major_operands.hpp"

namespace mma {

// A block computes BM x BN of C, each of its warps WM x WN of that.
template <int BM, int BN, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kWM = WM, kWN = WN;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsN = BN / WN, kThreads = 32 * (BM / WM) * kWarpsN;
  static constexpr int kRows = WM / 16, kCols = WN / 8;  // of a warp's accumulators, 16 x 8 each
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert((WM == 32 || WM == 64) && (WN == 32 || WN == 64), "see operand.hpp");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
};

// A stage: a k tile of A and of B, kBK steps along K, which are 128 bytes.
template <class G, class Tile>
struct smem_layout {
  using E = typename G::a_type;
  static constexpr int kBK = 128 / int(sizeof(E)), kVector = 16 / int(sizeof(E));
  static constexpr int kInstructionK = 2 * kVector,
                       kSteps = kBK / kInstructionK;  // of mma.sync along K
  using a_operand = operand<side::a, E, Tile::kBM, kBK, !G::kATransposed>;
  using b_operand = operand<side::b, E, Tile::kBN, kBK, G::kBTransposed>;
  static constexpr int kStage = a_operand::kElements + b_operand::kElements;
  static constexpr std::size_t kBytes = std::size_t{Tile::kStages} * kStage * sizeof(E);
  static_assert(a_operand::kElements * sizeof(E) % 1024 == 0 && kStage * sizeof(E) % 1024 == 0,
                "swizzled tiles start at multiples of 1024 bytes");
};

// Where in a stage the calling lane finds its part of the warp's operands.
template <class Smem>
struct lane_offsets {
  int a, b;

  static __device__ __forceinline__ lane_offsets of(int warp_row, int warp_col) {
    return {Smem::a_operand::lane(warp_row),
            Smem::a_operand::kElements + Smem::b_operand::lane(warp_col)};
  }
};

// A warp's part of C.
template <class G, class Tile>
using accumulators = typename G::accumulator_type[Tile::kRows][Tile::kCols][4];

// One k step: the warp's rows of A and columns of B.
template <class G, class Tile>
struct fragments {
  using Smem = smem_layout<G, Tile>;
  using E = typename Smem::E;
  unsigned a[Tile::kRows][4];
  unsigned b[Tile::kCols / 2][4];

  __device__ __forceinline__ void load(const E* stage, const lane_offsets<Smem>& lane, int k) {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) Smem::a_operand::load(a[i], stage, lane.a, 16 * i, k);
#pragma unroll
    for (int j = 0; j < Tile::kCols / 2; ++j) Smem::b_operand::load(b[j], stage, lane.b, 16 * j, k);
  }

  __device__ __forceinline__ void multiply(accumulators<G, Tile>& acc) const {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kCols; ++j) {
        const unsigned cols[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
        kzoo::mma<E>(acc[i][j], a[i], cols);
      }
    }
  }
};

// A warp's accumulators into C, from (row0, col0) on, in pairs of neighbouring columns. Of a block
// of 16 x 8 a lane has, in rows lane / 4 (e = 0) and lane / 4 + 8 (e = 2), places 2 t and 2 t + 1,
// with t = lane % 4. These are neighbouring columns, unless B's operand sorts even and odd columns
// apart (mn_major_operands.hpp): then neighbours are in the same place of two neighbouring blocks.
//
//     place            block 0: 0 1 .. 7      block 1: 0 1 .. 7
//     column                    0 1 .. 7               8 9 .. 15
//     column, apart             0 2 .. 14              1 3 .. 15
template <bool kPairs, class G, class Tile>
__device__ __forceinline__ void store(const G& g, const accumulators<G, Tile>& acc, int row0,
                                      int col0) {
  using rows = typename smem_layout<G, Tile>::a_operand;
  using cols = typename smem_layout<G, Tile>::b_operand;
  constexpr bool kApart = cols::mn(8) == 1;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const int row = row0 + rows::mn(16 * i + 4 * e + lane / 4);
#pragma unroll
      for (int j = 0; j < Tile::kCols; ++j) {
        const int block = j / 2 * 2, odd = j % 2;  // two blocks of 8 columns
        const int col =
            col0 + cols::mn(8 * (kApart ? block : j) + lane % 4 * 2 + (kApart ? odd : 0));
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

template <class G, class Tile>
__device__ __forceinline__ void store(bool pairs, const G& g, const accumulators<G, Tile>& acc,
                                      int row0, int col0) {
  if (pairs) {
    store<true, G, Tile>(g, acc, row0, col0);
  } else {
    store<false, G, Tile>(g, acc, row0, col0);
  }
}

}  // namespace mma
