#pragma once
// What fp16 parts cannot hold, in fp32 on CUDA cores, by the warpgroup that has found it.

#include <common/outer_product.hpp>
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

// A warpgroup computes 64 x 64 at a time, from tiles in shared memory of its own.
struct repair_tiling {
  static constexpr int kSize = 64, kBK = 8, kTM = 8, kTN = 4, kThreadsX = kSize / kTN;
  static constexpr int kStride = kSize + 4;  // fewer bank conflicts
  static constexpr int kPromotion = 64;      // steps along K that are summed apart
  static constexpr int kElements = 2 * kBK * kStride;
};

// Elements of a 64 x 64 part of C that need fp32. The warpgroup waits at `barrier`. `row_words` and
// `col_words` are those of its rows and columns.
__device__ __forceinline__ void repair(const kzoo::gemm<float>& g, const int* row_words,
                                       const int* col_words, int row0, int col0, int barrier,
                                       float* shared) {
  using S = repair_tiling;
  constexpr int kLoads = S::kSize * S::kBK / kzoo::kWarpgroup;
  float* a_tile = shared;                        // [k][row]
  float* b_tile = shared + S::kBK * S::kStride;  // [k][column]
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const int my_col = thread % S::kThreadsX * S::kTN, my_row = thread / S::kThreadsX * S::kTM;
  const int a_k = thread % S::kBK, a_row = thread / S::kBK;
  const int b_col = thread % S::kSize, b_k = thread / S::kSize;
  float a_next[kLoads], b_next[kLoads];
  const auto load = [&](int k0) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      a_next[i] = g.a_or_zero(row0 + a_row + i * (kzoo::kWarpgroup / S::kBK), k0 + a_k);
      b_next[i] = g.b_or_zero(k0 + b_k + i * (kzoo::kWarpgroup / S::kSize), col0 + b_col);
    }
  };
  float acc[S::kTM][S::kTN] = {}, sum[S::kTM][S::kTN] = {};
  const auto promote = [&] {
#pragma unroll
    for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) {
        sum[i][j] += acc[i][j];
        acc[i][j] = 0.0f;
      }
    }
  };
  load(0);
  for (int k0 = 0; k0 < g.k; k0 += S::kBK) {
    if (k0 % S::kPromotion == 0) promote();
    kzoo::named_barrier<kzoo::kWarpgroup>(barrier);  // all threads have read the last tiles
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      a_tile[a_k * S::kStride + a_row + i * (kzoo::kWarpgroup / S::kBK)] = a_next[i];
      b_tile[(b_k + i * (kzoo::kWarpgroup / S::kSize)) * S::kStride + b_col] = b_next[i];
    }
    load(k0 + S::kBK);
    kzoo::named_barrier<kzoo::kWarpgroup>(barrier);  // the tiles are complete
#pragma unroll
    for (int k = 0; k < S::kBK; ++k) {
      float a[S::kTM], b[S::kTN];
#pragma unroll
      for (int i = 0; i < S::kTM; ++i) a[i] = a_tile[k * S::kStride + my_row + i];
#pragma unroll
      for (int j = 0; j < S::kTN; ++j) b[j] = b_tile[k * S::kStride + my_col + j];
      common::outer_product(a, b, acc);
    }
  }
  promote();
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) {
      if (about::needs_fp32(row_words[my_row + i] | col_words[my_col + j])) {
        g.store_inside(row0 + my_row + i, col0 + my_col + j, sum[i][j]);
      }
    }
  }
}

}  // namespace split_fp16
