#pragma once
// What a block has in shared memory and a warp in registers, and how three TF32 products replace
// one of fp32.

#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <algorithm>
#include <cstddef>

namespace split_tf32 {

// A block computes BM x BN of C, each of its warps 64 x 32 of that. Interval: steps along K from
// one promotion to the next; 0: never.
template <int BM, int BN, int Stages, int BlocksPerSm, int Interval>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = 32, kWM = 64, kWN = 32;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm, kInterval = Interval;
  static constexpr int kWarpsN = BN / kWN, kThreads = 32 * (BM / kWM) * kWarpsN;
  static constexpr int kInstructionK = 8, kSteps = kBK / kInstructionK;  // of mma.sync along K
  static constexpr int kRows = kWM / 16, kCols = kWN / 8;  // of a warp's accumulators, 16 x 8 each
  static_assert(BM % kWM == 0 && BN % kWN == 0, "warps must cover the tile of C exactly");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
  static_assert(Interval % kInstructionK == 0 &&
                    (Interval == 0 || kBK % std::max(Interval, 1) == 0),
                "sums are promoted after whole steps, as often in each k tile");

  using a_tile = kzoo::swizzled_tile<float, BM, kBK>;
  // ldmatrix cannot transpose floats, so lanes read single elements: of four rows and eight
  // columns, which are in 32 different banks with eight unused words after each row.
  struct b_tile {
    static constexpr int kRows = kBK, kCols = BN, kStride = BN + 8, kElements = kRows * kStride;
    static constexpr __host__ __device__ int offset(int row, int col) {
      return row * kStride + col;
    }
  };
  // Swizzled tiles start at multiples of 1024 bytes.
  static constexpr int kStage =
      (a_tile::kElements + b_tile::kElements + 255) / 256 * 256;  // floats
  static constexpr std::size_t kBytes = std::size_t{Stages} * kStage * sizeof(float);
};

// x = hi + lo, as far as 11 bits each hold it: hi is rounded to TF32 (half away from zero); of lo
// the tensor cores drop one bit at most. Where x is infinite or NaN, or hi overflows, so is a
// product with one of them infinite or NaN.
struct parts {
  unsigned hi, lo;

  static __device__ __forceinline__ parts of(unsigned x) {
    const unsigned hi = (x + 0x1000u) & 0xffffe000u;
    return {hi, __float_as_uint(__uint_as_float(x) - __uint_as_float(hi))};
  }
};

// One step along K: the warp's rows of A and columns of B, in the registers that mma.sync wants.
template <class S>
struct fragments {
  unsigned a[S::kRows][4];
  unsigned b[S::kCols][2];

  // The warp's rows and columns begin at (row, col) of the tiles.
  __device__ __forceinline__ void load(const float* stage, int row, int col, int k) {
    const int lane = threadIdx.x % 32, down = lane % 16, right = lane / 16 * 4;
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      kzoo::ldmatrix(a[i], stage + S::a_tile::offset(row + 16 * i + down, k + right));
    }
    const float* b_stage = stage + S::a_tile::kElements;
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* from =
            b_stage + S::b_tile::offset(k + lane % 4 + 4 * half, col + 8 * j + lane / 4);
        b[j][half] = __float_as_uint(*from);
      }
    }
  }

  // The two small products come first, while the accumulators are small too. lo lo is left out.
  __device__ __forceinline__ void multiply(float (&acc)[S::kRows][S::kCols][4]) const {
    unsigned b_hi[S::kCols][2], b_lo[S::kCols][2];
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) split(b[j], b_hi[j], b_lo[j]);
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
      unsigned a_hi[4], a_lo[4];
      split(a[i], a_hi, a_lo);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) kzoo::mma<float>(acc[i][j], a_lo, b_hi[j]);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) kzoo::mma<float>(acc[i][j], a_hi, b_lo[j]);
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) kzoo::mma<float>(acc[i][j], a_hi, b_hi[j]);
    }
  }

 private:
  template <int kCount>
  static __device__ __forceinline__ void split(const unsigned (&x)[kCount], unsigned (&hi)[kCount],
                                               unsigned (&lo)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const parts p = parts::of(x[i]);
      hi[i] = p.hi;
      lo[i] = p.lo;
    }
  }
};

// A warp's sums. Tensor cores truncate when they add, so `acc`, to which they add, is added to
// `sum`, which is rounded, every S::kInterval steps.
template <class S>
struct sums {
  float acc[S::kRows][S::kCols][4] = {}, sum[S::kRows][S::kCols][4] = {};

  __device__ __forceinline__ void promote() {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          sum[i][j][e] += acc[i][j][e];
          acc[i][j][e] = 0.0f;
        }
      }
    }
  }
};

}  // namespace split_tf32
