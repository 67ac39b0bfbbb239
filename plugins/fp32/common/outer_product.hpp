#pragma once
// One step along K in registers: acc += a b^T.

#include <kzoo/plugin.hpp>

namespace common {

// In serpentine order: rows alternately left to right and right to left, so that each FMA reuses an
// operand of the previous one, also at the turn of a row. plugins/outer_product shows what it
// gains.
template <int TM, int TN>
__device__ void outer_product(const float (&a)[TM], const float (&b)[TN], float (&acc)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int step = 0; step < TN; ++step) {
      const int j = i % 2 == 0 ? step : TN - 1 - step;
      acc[i][j] += a[i] * b[j];
    }
  }
}

}  // namespace common
