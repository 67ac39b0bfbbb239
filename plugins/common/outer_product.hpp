#pragma once
// One step along K: sum += a b^T, in registers.

#include <kzoo/plugin.hpp>

namespace common {

// Row after row, there and back like an ox that ploughs: each multiply-add shares an operand with
// the one before, also at the turn of a row. plugins/outer_product says what that is good for.
template <int TM, int TN>
__device__ void outer_product(const float (&a)[TM], const float (&b)[TN], float (&sum)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int step = 0; step < TN; ++step) {
      const int j = i % 2 == 0 ? step : TN - 1 - step;
      sum[i][j] += a[i] * b[j];
    }
  }
}

}  // namespace common
