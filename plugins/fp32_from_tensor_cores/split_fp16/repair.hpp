#pragma once
// What fp16 parts cannot hold, in fp32 on CUDA cores, by the warpgroup that has found it.

#include <fp32/common/fragments.hpp>
#include <kzoo/warpgroup.hpp>

#include "parts.hpp"

namespace split_fp16 {

// The flags that any of the warpgroup's threads has. It meets at `barrier`.
__device__ __forceinline__ int flags_of_all(int words, int barrier) {
  int all = 0;
#pragma unroll
  for (int flag = 1; flag < about::kFlags; flag *= 2) {
    if (kzoo::named_barrier_or<kzoo::kWarpgroup>(barrier, (words & flag) != 0)) all |= flag;
  }
  return all;
}

// A warpgroup computes 64 x 32 at a time, from tiles in shared memory of its own: few registers, so
// that the product itself is compiled as if there were no repairs.
struct repair_tiling {
  static constexpr int kRows = 64, kCols = 32, kBK = 8, kTM = 4, kTN = 4, kThreadsX = kCols / kTN;
  static constexpr int kStrideA = kRows + 4, kStrideB = kCols + 4;  // fewer bank conflicts
  static constexpr int kBlock = 32;  // steps along K that are summed apart
  static constexpr int kElements = kBK * (kStrideA + kStrideB);
};

// Elements of a 64 x 32 part of C that need fp32. The warpgroup waits at `barrier`. `row_words` and
// `col_words` are those of its rows and columns.
__device__ __forceinline__ void repair(const kzoo::gemm<float>& g, const int* row_words,
                                       const int* col_words, int row0, int col0, int barrier,
                                       float* shared) {
  using S = repair_tiling;
  constexpr int kLoadsA = S::kRows * S::kBK / kzoo::kWarpgroup;
  constexpr int kLoadsB = S::kCols * S::kBK / kzoo::kWarpgroup;
  float* a_tile = shared;                         // [k][row]
  float* b_tile = shared + S::kBK * S::kStrideA;  // [k][column]
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const int my_col = thread % S::kThreadsX * S::kTN, my_row = thread / S::kThreadsX * S::kTM;
  const int a_k = thread % S::kBK, a_row = thread / S::kBK;
  const int b_col = thread % S::kCols, b_k = thread / S::kCols;
  float a_next[kLoadsA], b_next[kLoadsB];
  const auto load = [&](int k0) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      a_next[i] = g.a_or_zero(row0 + a_row + i * (kzoo::kWarpgroup / S::kBK), k0 + a_k);
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      b_next[i] = g.b_or_zero(k0 + b_k + i * (kzoo::kWarpgroup / S::kCols), col0 + b_col);
    }
  };
  // Sums of blocks of steps. What rounding takes from the sum of all blocks is summed apart
  // (Knuth's TwoSum).
  float acc[S::kTM][S::kTN] = {}, sum[S::kTM][S::kTN] = {}, rest[S::kTM][S::kTN] = {};
  const auto end_block = [&] {
#pragma unroll
    for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) {
        const float x = acc[i][j], before = sum[i][j], after = before + x, added = after - before;
        rest[i][j] += (before - (after - added)) + (x - added);
        sum[i][j] = after;
        acc[i][j] = 0.0f;
      }
    }
  };
  load(0);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    if (k0 % S::kBlock == 0) end_block();
    kzoo::named_barrier<kzoo::kWarpgroup>(barrier);  // all threads have read the last tiles
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      a_tile[a_k * S::kStrideA + a_row + i * (kzoo::kWarpgroup / S::kBK)] = a_next[i];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      b_tile[(b_k + i * (kzoo::kWarpgroup / S::kCols)) * S::kStrideB + b_col] = b_next[i];
    }
    load(k0 + S::kBK);
    kzoo::named_barrier<kzoo::kWarpgroup>(barrier);  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) a[i] = a_tile[k * S::kStrideA + my_row + i];
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) b[j] = b_tile[k * S::kStrideB + my_col + j];
      common::outer_product(a, b, acc);
    }
  }
  end_block();
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) {
      if (about::needs_fp32(row_words[my_row + i] | col_words[my_col + j])) {
        const float all = sum[i][j] + rest[i][j];  // a NaN where the sum is infinite
        g.store_inside(row0 + my_row + i, col0 + my_col + j, all == all ? all : sum[i][j]);
      }
    }
  }
}

}  // namespace split_fp16
