#pragma once
// What the steps from latency_hidden on do more than once, as functions: reading fragments from
// shared memory, their outer product, and the epilogue; and where a thread is, which they all need.

#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace common {

// Which elements of its block's tile of C are the running thread's: float4s between those of other
// threads, as in bank_conflict_free.
template <class Tile>
struct thread_coords {
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int thread = ty * Tile::kThreadsX + tx;
  int row0 = static_cast<int>(blockIdx.y) * Tile::kBM;
  int col0 = static_cast<int>(blockIdx.x) * Tile::kBN;

  // Row and column, in the block's tile, of accumulator (i, j). A thread has TM / 4 groups of four
  // rows: the groups 0 of all threads of a column are the first 4 * kThreadsY rows, the groups 1
  // the next, and so on. With 8 x 8 in 128 rows, ty 0 has rows 0 to 3 and 64 to 67, ty 1 rows 4 to
  // 7 and 68 to 71. Columns likewise.
  __device__ int row(int i) const { return i / 4 * (4 * Tile::kThreadsY) + ty * 4 + i % 4; }
  __device__ int col(int j) const { return j / 4 * (4 * Tile::kThreadsX) + tx * 4 + j % 4; }
};

// a = what the thread needs of A's tile, (BK, BM) in a Layout, for one k; b = of B's, (BK, BN).
template <class Tile, class Layout, class Coords>
__device__ void read_fragments(const float* a_tile, const float* b_tile, const Coords& coords,
                               int k, float (&a)[Tile::kTM], float (&b)[Tile::kTN]) {
#pragma unroll
  for (int i = 0; i < Tile::kTM; i += 4) read_vec4(&a_tile[Layout::at(k, coords.row(i))], &a[i]);
#pragma unroll
  for (int j = 0; j < Tile::kTN; j += 4) read_vec4(&b_tile[k * Tile::kBN + coords.col(j)], &b[j]);
}

// acc += a b^T in serpentine order, as in outer_product: rows alternately left to right and right
// to left, so that each FMA reuses an operand of the previous one, also at the turn of a row.
template <int TM, int TN>
__device__ void outer_product(const float (&a)[TM], const float (&b)[TN], float (&acc)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int x = 0; x < TN; ++x) {
      const int j = i % 2 == 0 ? x : TN - 1 - x;
      acc[i][j] += a[i] * b[j];
    }
  }
}

// The epilogue of the whole thread tile: C = alpha acc + beta C.
template <bool kAligned, class Coords, int TM, int TN>
__device__ void store_tile(const kzoo::gemm<float>& g, const Coords& coords,
                           const float (&acc)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      store_c<kAligned>(g, coords.row0 + coords.row(i), coords.col0 + coords.col(j), &acc[i][j]);
    }
  }
}

}  // namespace common
