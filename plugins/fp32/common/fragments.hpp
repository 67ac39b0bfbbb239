#pragma once
// A thread's fragments of A and B, and its tile of C, as thread coordinates p say which they are.

#include <fp32/common/thread_coords.hpp>
#include <fp32/common/vec4.hpp>

namespace common {

// What step k of the tiles needs: TM values of A and TN of B, from shared memory into registers.
template <class Layout, class Coords, int TM, int TN>
__device__ void read_fragments(const float* a_tile, const float* b_tile, const Coords& p, int k,
                               float (&a)[TM], float (&b)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; i += 4) read_vec4(&a_tile[Layout::at(k, p.row(i))], &a[i]);
#pragma unroll
  for (int j = 0; j < TN; j += 4) {
    read_vec4(&b_tile[k * Coords::tiling::kBN + p.col(j)], &b[j]);
  }
}

// The epilogue of the whole thread tile.
template <bool kAligned, class Coords, int TM, int TN>
__device__ void store_tile(const kzoo::gemm<float>& g, const Coords& p,
                           const float (&acc)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      store_c<kAligned>(g, p.row0 + p.row(i), p.col0 + p.col(j), &acc[i][j]);
    }
  }
}

}  // namespace common
