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

// One step along K: the warp's rows of A and columns of B, in the registers that mma.sync wants.
template <class T, class S>
struct fragments {
  using L = layout<T, S>;
  unsigned a[S::kRows][4];
  unsigned b[S::kCols][2];

  // A lane points ldmatrix to row lane % 16 of a 16 x 16 part, at its first or second 8 columns.
  __device__ __forceinline__ void load(const T* stage, const warp_position& warp, int k) {
    const int lane = threadIdx.x % 32, down = lane % 16, right = lane / 16 * L::kVector;
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      kzoo::ldmatrix(a[i], stage + L::a_tile::offset(warp.row + 16 * i + down, k + right));
    }
    const T* b_stage = stage + L::a_tile::kElements;
#pragma unroll
    for (int j = 0; j < S::kCols; j += 2) {  // 16 columns: b[j] and b[j + 1]
      unsigned both[4];
      kzoo::ldmatrix_transposed(both,
                                b_stage + L::b_tile::offset(k + down, warp.col + 8 * j + right));
      b[j][0] = both[0];
      b[j][1] = both[1];
      b[j + 1][0] = both[2];
      b[j + 1][1] = both[3];
    }
  }

  __device__ __forceinline__ void multiply(float (&acc)[S::kRows][S::kCols][4]) const {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) kzoo::mma<T>(acc[i][j], a[i], b[j]);
    }
  }
};

}  // namespace mma
