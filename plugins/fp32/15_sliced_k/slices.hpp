#pragma once
// A block has kSlices slices of kThreads threads, and each slice multiplies its part of every k
// tile for the same tile of C. At the end the slices add up what they have, through shared memory.
//
//   k tile     | 0 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31 |      BK = 32, kSlices = 4
//   slice          0        1          2          3

#include <fp32/common/async_copies.hpp>
#include <fp32/common/stream_k.hpp>

#include <algorithm>
#include <cstddef>

namespace sliced_k {

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
  static __device__ int block_thread() {  // of kBlockThreads
    return slice() * Staged::kThreads + static_cast<int>(threadIdx.y) * Staged::kThreadsX +
           static_cast<int>(threadIdx.x);
  }

  // After reduce_slices, a thread has the sums of these rows of its thread tile, and stores them.
  static constexpr int kOwnRows = Staged::kTM / Slices, kOwnVec4s = kOwnRows * Staged::kTN / 4;
  static __device__ int own_row() { return slice() * kOwnRows; }
};

// Calls body(i) for each of the thread's own rows. The loop goes over all rows, with a test, so
// that accumulators are indexed by constants and stay in registers.
template <class Tile, class Body>
__device__ __forceinline__ void for_own_rows(Body body) {
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
    if (i / Tile::kOwnRows == Tile::slice()) body(i);
  }
}

// Each slice has accumulated its own part of K. The slices add these up through shared memory, and
// each keeps the sums of its own rows. All threads must call this.
//
//   owner of the rows     0           1           2           3         kSlices = 4
//   slices that write     1  2  3     0  2  3     0  1  3     0  1  2
//   their number, source  0  1  2     0  1  2     0  1  2     0  1  2
template <class Tile>
__device__ __forceinline__ void reduce_slices(float* shared, const common::partial_sums<Tile>& sums,
                                              float (&acc)[Tile::kTM][Tile::kTN]) {
  constexpr int kPerRow = Tile::kTN / 4, kVec4s = Tile::kOwnVec4s;
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
      part(owner, source, v) =
          sums.pack(&acc[owner * Tile::kOwnRows + v / kPerRow][v % kPerRow * 4]);
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

}  // namespace sliced_k
