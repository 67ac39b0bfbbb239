#pragma once
// What a warp multiplies, and where it comes from.

#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <cstddef>

namespace mma {

// A block computes BM x BN of C, each of its warps WM x WN of that.
template <int BM, int BN, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kWM = WM, kWN = WN;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsN = BN / WN, kThreads = 32 * (BM / WM) * kWarpsN;
  static constexpr int kRows = WM / 16, kCols = WN / 8;  // of a warp's accumulators, 16 x 8 each
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings two 8 columns of B at a time");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
};

// A stage: a k tile of A and of B, kBK steps along K, which are 128 bytes of a row of A.
template <class T, class S>
struct layout {
  static constexpr int kBK = 128 / int(sizeof(T)), kVector = 16 / int(sizeof(T));
  static constexpr int kStep = 2 * kVector, kSteps = kBK / kStep;  // of mma.sync along K
  using a_tile = kzoo::swizzled_tile<T, S::kBM, kBK>;
  using b_tile = kzoo::swizzled_tile<T, kBK, S::kBN>;
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  static constexpr std::size_t kBytes = std::size_t{S::kStages} * kStage * sizeof(T);
};

// Where in the block's tile of C a warp's begins.
struct warp_position {
  int row, col;

  template <class S>
  static __device__ __forceinline__ warp_position of(int warp) {
    return {warp / S::kWarpsN * S::kWM, warp % S::kWarpsN * S::kWN};
  }
};

// A 16 x kStep part of A's tile from (row, k) on, in the registers that mma.sync wants.
template <class L, class T>
__device__ __forceinline__ void load_a(unsigned (&a)[4], const T* tile, int row, int k) {
  const int lane = threadIdx.x % 32;
  // A lane points ldmatrix to row lane % 16 of the part, at its first or second 16 bytes.
  kzoo::ldmatrix(a, tile + L::a_tile::offset(row + lane % 16, k + lane / 16 * L::kVector));
}

// A kStep x 16 part of B's tile from (k, col) on: 8 columns in b[0], 8 in b[1].
template <class L, class T>
__device__ __forceinline__ void load_b(unsigned (&b)[2][2], const T* tile, int k, int col) {
  const int lane = threadIdx.x % 32;
  unsigned both[4];
  kzoo::ldmatrix_transposed(both,
                            tile + L::b_tile::offset(k + lane % 16, col + lane / 16 * L::kVector));
  b[0][0] = both[0];
  b[0][1] = both[1];
  b[1][0] = both[2];
  b[1][1] = both[3];
}

// The same for TF32, of which ldmatrix transposes nothing: lanes load B element by element. Lane
// t of four has k = t and t + 4 of a step, says mma.sync; but any order of the eight will do, if it
// is that of A and of B. With 2 t and 2 t + 1 the rows of B that a warp reads at once are in
// different banks, and A's two neighbours are one load.
template <class L>
__device__ __forceinline__ void load_a(unsigned (&a)[4], const float* tile, int row, int k) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const float* from = tile + L::a_tile::offset(row + g, k + 2 * t);
#pragma unroll
  for (int i = 0; i < 2; ++i) {  // 8 rows on, the swizzle is the same
    const auto two = *reinterpret_cast<const uint2*>(from + 8 * i * L::a_tile::kPanelCols);
    a[i] = two.x;
    a[i + 2] = two.y;
  }
}
template <class L>
__device__ __forceinline__ void load_b(unsigned (&b)[2][2], const float* tile, int k, int col) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // A swizzled column is the column's bits, some of them flipped: those of the lane and of the
    // part can be flipped one after the other.
    const int lanes = L::b_tile::offset(2 * t + i, g) ^ col % L::b_tile::kPanelCols;
    const float* from = tile + lanes + k * L::b_tile::kPanelCols +
                        col / L::b_tile::kPanelCols * L::b_tile::kPanelElements;
    b[0][i] = *reinterpret_cast<const unsigned*>(from);
    const int next = lanes ^ 8;
    b[1][i] = *reinterpret_cast<const unsigned*>(from + (next - lanes));
  }
}

// One step along K: the warp's rows of A and columns of B.
template <class T, class S>
struct fragments {
  using L = layout<T, S>;
  unsigned a[S::kRows][4];
  unsigned b[S::kCols / 2][2][2];

  __device__ __forceinline__ void load(const T* stage, const warp_position& warp, int k) {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) load_a<L>(a[i], stage, warp.row + 16 * i, k);
#pragma unroll
    for (int j = 0; j < S::kCols / 2; ++j) {
      load_b<L>(b[j], stage + L::a_tile::kElements, k, warp.col + 16 * j);
    }
  }

  __device__ __forceinline__ void multiply(float (&acc)[S::kRows][S::kCols][4]) const {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) kzoo::mma<T>(acc[i][j], a[i], b[j / 2][j % 2]);
    }
  }
};

}  // namespace mma
