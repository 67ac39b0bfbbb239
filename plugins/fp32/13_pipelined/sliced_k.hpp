#pragma once
// Sliced-K: a block has kSlices groups of Staged::kThreads threads, and each group multiplies its
// slice of every k tile for the same tile of C. That is more threads for a small tile, each with
// many accumulators. At the end the slices add up what they have, through shared memory.
//
//   k tile     | 0 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31 |      BK = 32, kSlices = 4
//   slice          0        1          2          3

#include <fp32/common/async_copies.hpp>

#include <algorithm>
#include <cstddef>

namespace pipelined {

template <class Staged, int Slices>
struct sliced : Staged {
  static constexpr int kSlices = Slices, kBlockThreads = Staged::kThreads * Slices;
  static constexpr int kSliceK = Staged::kBK / Slices;  // a slice's k steps in a k tile
  static constexpr std::size_t kSharedBytes =
      std::max(Staged::kSharedBytes, sizeof(float) * (Slices - 1) * Staged::kBM * Staged::kBN);
  static_assert(Staged::kBK % Slices == 0 && kSliceK % 2 == 0, "two sets of fragments take turns");
  static_assert(Staged::kTM % Slices == 0, "slices divide a thread's rows among themselves");

  static dim3 block() { return dim3(Staged::kThreadsX, Staged::kThreadsY, Slices); }
  static __device__ int slice() { return Slices == 1 ? 0 : static_cast<int>(threadIdx.z); }
  static __device__ int block_thread() {
    return slice() * Staged::kThreads + Staged::block_thread();
  }

  // After reduce_slices, a thread has the sums of these rows of its thread tile, and stores them.
  static constexpr int kOwnRows = Staged::kTM / Slices;
  static __device__ int own_row() { return slice() * kOwnRows; }
};

// Each slice has accumulated its own part of K. The slices add these up through shared memory, and
// each keeps the sums of its own rows. All threads must call this; `runtime_one`: as in
// common::partial_sums::store.
//
//   owner of the rows     0           1           2           3         kSlices = 4
//   slices that write     1  2  3     0  2  3     0  1  3     0  1  2
//   their number, source  0  1  2     0  1  2     0  1  2     0  1  2
template <class Tile>
__device__ __forceinline__ void reduce_slices(float* shared, float runtime_one,
                                              float (&acc)[Tile::kTM][Tile::kTN]) {
  constexpr int kPerRow = Tile::kTN / 4, kVec4s = Tile::kOwnRows * kPerRow;
  const int thread = Tile::block_thread() % Tile::kThreads;  // in its slice
  auto* const parts = reinterpret_cast<float4*>(shared);
  // Float4 number v of what the `source`-th of the other slices has for `owner`.
  const auto part = [&](int owner, int source, int v) -> float4& {
    return parts[((owner * (Tile::kSlices - 1) + source) * kVec4s + v) * Tile::kThreads + thread];
  };
  // Over all owners, with a test: so acc is indexed by constants, and stays in registers.
#pragma unroll
  for (int owner = 0; owner < Tile::kSlices; ++owner) {
    if (owner == Tile::slice()) continue;
    const int source = Tile::slice() - (Tile::slice() > owner);
#pragma unroll
    for (int v = 0; v < kVec4s; ++v) {
      const float* from = &acc[owner * Tile::kOwnRows + v / kPerRow][v % kPerRow * 4];
      part(owner, source, v) = make_float4(runtime_one * from[0], runtime_one * from[1],
                                           runtime_one * from[2], runtime_one * from[3]);
    }
  }
  __syncthreads();  // the other slices' sums are there
#pragma unroll
  for (int owner = 0; owner < Tile::kSlices; ++owner) {
    if (owner != Tile::slice()) continue;
#pragma unroll
    for (int source = 0; source < Tile::kSlices - 1; ++source) {
#pragma unroll
      for (int v = 0; v < kVec4s; ++v) {
        const float4 from = part(owner, source, v);
        float* to = &acc[owner * Tile::kOwnRows + v / kPerRow][v % kPerRow * 4];
        to[0] += from.x;
        to[1] += from.y;
        to[2] += from.z;
        to[3] += from.w;
      }
    }
  }
}

}  // namespace pipelined
