#pragma once
// The threads of a block load its next tiles of A and B from global to shared memory, one element
// at a time. Their order is that of the elements in memory and not that of the threads in the block
// (plugins/reindexed shows the difference): thread t takes elements t, t + kThreads, ... of a tile,
// row after row, so that neighbouring threads load neighbouring elements.

#include <fp32/common/tiling.hpp>

namespace common {

// The tiles at row `row0` of A, column `col0` of B and `k0` along K; zeros past the edges.
template <class S, class T>
__device__ void load_tiles(const kzoo::gemm<T>& g, int row0, int col0, int k0, int thread,
                           T (&a_tile)[S::kBM][S::kBK], T (&b_tile)[S::kBK][S::kBN]) {
#pragma unroll
  for (int first = 0; first < S::kBM * S::kBK; first += S::kThreads) {
    const int row = (first + thread) / S::kBK, k = (first + thread) % S::kBK;
    a_tile[row][k] = g.a_or_zero(row0 + row, k0 + k);
  }
#pragma unroll
  for (int first = 0; first < S::kBK * S::kBN; first += S::kThreads) {
    const int k = (first + thread) / S::kBN, col = (first + thread) % S::kBN;
    b_tile[k][col] = g.b_or_zero(k0 + k, col0 + col);
  }
}

}  // namespace common
