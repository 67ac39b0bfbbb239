#pragma once
// Where finished accumulators go: into C, or, as partial sums of a stream-K tile, into the
// workspace and from there into C by a second kernel.

#include <fp32/common/vec4.hpp>
#include <fp32/common/warp_tiling.hpp>
#include <kzoo/plugin.hpp>

#include "schedule.hpp"
#include "tile_copies.hpp"

namespace pipelined {

// Sliced-K: the slice of each k tile that is this thread's.
template <class S>
__device__ int own_slice() {
  return S::kSlices == 1 ? 0 : static_cast<int>(threadIdx.z);
}

// To be called with 1, which the compiler must not know, before accumulators are stored unscaled.
// Four that are stored together would otherwise have to be in four neighbouring registers all
// along, and that leaves no choice of register banks: one FMA in sixteen then waits for its
// operands, and the kernel takes 7 % longer. Alpha would do as well, but has to come last: partial
// sums that overflow when scaled by it may have a total that does not.
template <class S>
__device__ __forceinline__ void multiply_by(float one, float (&acc)[S::kTM][S::kTN]) {
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) acc[i][j] *= one;
  }
}

__device__ __forceinline__ float4 pack(const float* from) {
  return make_float4(from[0], from[1], from[2], from[3]);
}

__device__ __forceinline__ void add_to(float* to, float4 v) {
  to[0] += v.x;
  to[1] += v.y;
  to[2] += v.z;
  to[3] += v.w;
}

// Each slice has accumulated its own part of K. The slices add these up through shared memory, and
// each keeps the totals of its own kOwnRows rows of the thread tile. All threads must call this.
template <class S>
__device__ __forceinline__ void reduce_slices(const common::warp_thread_coords<S>& p, float* shared,
                                              float (&acc)[S::kTM][S::kTN]) {
  constexpr int kVec4sPerRow = S::kTN / 4;
  auto* parts = reinterpret_cast<float4*>(shared);
  // The v-th float4 of `owner`'s rows: in the accumulators, and as given by slice number `giver` of
  // the others.
  const auto in_acc = [&](int owner, int v) {
    return &acc[owner * S::kOwnRows + v / kVec4sPerRow][v % kVec4sPerRow * 4];
  };
  const auto in_parts = [&](int owner, int giver, int v) {
    return ((owner * (S::kSlices - 1) + giver) * S::kOwnVec4s + v) * S::kThreads + p.thread;
  };
#pragma unroll
  for (int owner = 0; owner < S::kSlices; ++owner) {
    if (owner == own_slice<S>()) continue;
    const int giver = own_slice<S>() - (own_slice<S>() > owner);
#pragma unroll
    for (int v = 0; v < S::kOwnVec4s; ++v)
      parts[in_parts(owner, giver, v)] = pack(in_acc(owner, v));
  }
  __syncthreads();
#pragma unroll
  for (int owner = 0; owner < S::kSlices; ++owner) {
    if (owner != own_slice<S>()) continue;
#pragma unroll
    for (int giver = 0; giver < S::kSlices - 1; ++giver) {
#pragma unroll
      for (int v = 0; v < S::kOwnVec4s; ++v)
        add_to(in_acc(owner, v), parts[in_parts(owner, giver, v)]);
    }
  }
}

// Calls visit(v, i, j) for each float4 of accumulators that this thread stores: number v, which is
// acc[i][j] to acc[i][j + 3].
template <class S, class Visit>
__device__ __forceinline__ void for_own_vec4s(Visit visit) {
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
    if (i / S::kOwnRows != own_slice<S>()) continue;
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) visit(i % S::kOwnRows * (S::kTN / 4) + j / 4, i, j);
  }
}

// Accumulators (i, j) to (i, j + 3) of the thread tile, into C.
template <class S, bool kAligned>
__device__ __forceinline__ void store(const kzoo::gemm<float>& g,
                                      const common::warp_thread_coords<S>& p, int i, int j,
                                      const float* acc) {
  const int row = p.row0 + p.row(i), col = p.col0 + p.col(j);
  if constexpr (kAligned) {  // N is a multiple of 4: all four are inside, or none
    if (row < g.m && col < g.n) common::store_c<true>(g, row, col, acc);
  } else {
    common::store_c<false>(g, row, col, acc);
  }
}

// A float4 of the partial sums in a slot of the workspace.
template <class S>
__device__ float4& partial(float4* workspace, int slot, int v,
                           const common::warp_thread_coords<S>& p) {
  const std::int64_t first = (std::int64_t{slot} * S::kOwnVec4s + v) * S::kBlockThreads;
  return workspace[first + block_thread(p)];
}

// The second kernel: blockIdx.x is one stream-K tile, blockIdx.y are kVec4sAtATime of each thread's
// float4s.
inline constexpr int kVec4sAtATime = 2;
template <class S, bool kAligned>
__global__ void __launch_bounds__(S::kBlockThreads)
    add_partial_sums(kzoo::gemm<float> g, schedule work, float4* workspace) {
  static_assert(S::kOwnVec4s % kVec4sAtATime == 0, "every float4 must have its blockIdx.y");
  const int tile = work.dp_tiles + static_cast<int>(blockIdx.x);
  const std::int64_t begin = std::int64_t{tile} * work.k_tiles;
  const int first = work.sk_block_of(begin), last = work.sk_block_of(begin + work.k_tiles - 1);
  if (first == last) return;  // one block computed all of the tile, and has stored it
  // For the blocks after the first, this tile is the first of their share.
  const int first_slot = work.slot(first, work.begin(first) >= begin);
  const auto p = work.coords_in<S>(tile);
  for_own_vec4s<S>([&](int v, int i, int j) {
    if (v / kVec4sAtATime != static_cast<int>(blockIdx.y)) return;
    const float4 part = partial<S>(workspace, first_slot, v, p);
    float acc[4] = {part.x, part.y, part.z, part.w};
#pragma unroll 4
    for (int block = first + 1; block <= last; ++block) {
      add_to(acc, partial<S>(workspace, work.slot(block, true), v, p));
    }
    store<S, kAligned>(g, p, i, j, acc);
  });
}

}  // namespace pipelined
