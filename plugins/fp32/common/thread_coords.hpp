#pragma once
// Where the running thread is, and which elements of its block's tile of C are its own. They are an
// interleaved thread tile: float4s with other threads' float4s between them, so that neighbouring
// threads have neighbouring float4s. A warp's 16-byte reads of shared memory then have no bank
// conflicts, and its stores to C are coalesced.
//
//   columns      0..3  4..7  8..11  ...          of a tile 128 wide, with 16 threads along x
//   threads      t0    t1    t2     ... t15      j = 0..3
//                t0    t1    t2     ... t15      j = 4..7

#include <fp32/common/tiling.hpp>

namespace common {

template <class S>
struct thread_coords {
  using tiling = S;

  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int thread = ty * S::kThreadsX + tx;
  int row0 = static_cast<int>(blockIdx.y) * S::kBM, col0 = static_cast<int>(blockIdx.x) * S::kBN;

  // Row and column, in the block's tile, of the thread's accumulator (i, j).
  __device__ int row(int i) const { return i / 4 * 4 * S::kThreadsY + ty * 4 + i % 4; }
  __device__ int col(int j) const { return j / 4 * 4 * S::kThreadsX + tx * 4 + j % 4; }
};

}  // namespace common
