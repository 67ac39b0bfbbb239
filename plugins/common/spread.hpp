#pragma once
// Which of the block's outputs are a thread's when they are spread out: quads of four neighbours,
// one from each of TM/4 x TN/4 equal parts of the block's tile, or of its warp's part of that
// (warp_tiling.hpp). Neighbouring threads have neighbouring quads, so that a warp's 16-byte reads
// of shared memory have no bank conflicts, and its stores to C are coalesced.

#include <common/quad.hpp>
#include <common/tiling.hpp>

namespace common {

// Row i or column j of the thread's outputs, counted in the block's tile.
template <class S>
__device__ int spread_row(const place<S>& p, int i) {
  return i / 4 * 4 * S::kThreadsY + p.ty * 4 + i % 4;
}
template <class S>
__device__ int spread_col(const place<S>& p, int j) {
  return j / 4 * 4 * S::kThreadsX + p.tx * 4 + j % 4;
}

// What step k needs: TM values of A and TN of B, from shared memory into registers.
template <class S, class kLayout, class Place>
__device__ void read_fragments(const float* a_tile, const float* b_tile, const Place& p, int k,
                               float (&a)[S::kTM], float (&b)[S::kTN]) {
#pragma unroll
  for (int i = 0; i < S::kTM; i += 4) {
    unpack(load_quad(&a_tile[kLayout::at(k, spread_row(p, i))]), &a[i]);
  }
#pragma unroll
  for (int j = 0; j < S::kTN; j += 4) {
    unpack(load_quad(&b_tile[k * S::kBN + spread_col(p, j)]), &b[j]);
  }
}

template <class S, bool kWhole, class Place>
__device__ void store_spread(const kzoo::gemm<float>& g, const Place& p,
                             const float (&sum)[S::kTM][S::kTN]) {
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) {
      store_sums<kWhole>(g, p.row0 + spread_row(p, i), p.col0 + spread_col(p, j), &sum[i][j]);
    }
  }
}

}  // namespace common
