#pragma once
// Where finished sums go: into C, or, of a tile that several blocks share, as partial sums into the
// workspace and from there into C by a second kernel.

#include <common/spread.hpp>
#include <common/warp_tiling.hpp>
#include <kzoo/plugin.hpp>

#include "schedule.hpp"
#include "tile_copies.hpp"

namespace pipelined {

// Which slice of the block's steps along K is this thread's.
template <class S>
__device__ int own_slice() {
  return S::kSlices == 1 ? 0 : static_cast<int>(threadIdx.z);
}

// To be called with one, which the compiler must not know, before sums are stored as they are. Four
// that are stored together would otherwise have to be in four neighbouring registers all along, and
// that leaves no choice of register banks: one multiply-add in sixteen then waits for its operands,
// and the kernel takes 7 % longer. Alpha would do as well, but has to come last: parts that are
// infinite with it may have a sum that is not.
template <class S>
__device__ __forceinline__ void multiply_by(float one, float (&sum)[S::kTM][S::kTN]) {
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < S::kTN; ++j) sum[i][j] *= one;
  }
}

// Each slice has sums over its own steps. They are added up through shared memory, and each slice
// keeps the totals of its own kOwnRows rows of the thread's sums. Every thread must come here.
template <class S>
__device__ __forceinline__ void reduce_slices(const common::warp_place<S>& p, float* shared,
                                              float (&sum)[S::kTM][S::kTN]) {
  constexpr int kQuads = S::kOwnQuads, kQuadsPerRow = S::kTN / 4;
  auto* parts = reinterpret_cast<float4*>(shared);
#pragma unroll
  for (int owner = 0; owner < S::kSlices; ++owner) {
    if (owner == own_slice<S>()) continue;
    const int giver = own_slice<S>() - (own_slice<S>() > owner);  // among those that are not owner
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const float* from = &sum[owner * S::kOwnRows + q / kQuadsPerRow][q % kQuadsPerRow * 4];
      parts[((owner * (S::kSlices - 1) + giver) * kQuads + q) * S::kThreads + p.thread] =
          make_float4(from[0], from[1], from[2], from[3]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int owner = 0; owner < S::kSlices; ++owner) {
    if (owner != own_slice<S>()) continue;
#pragma unroll
    for (int giver = 0; giver < S::kSlices - 1; ++giver) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) {
        const float4 part =
            parts[((owner * (S::kSlices - 1) + giver) * kQuads + q) * S::kThreads + p.thread];
        float* to = &sum[owner * S::kOwnRows + q / kQuadsPerRow][q % kQuadsPerRow * 4];
        to[0] += part.x;
        to[1] += part.y;
        to[2] += part.z;
        to[3] += part.w;
      }
    }
  }
}

// Calls visit(quad, i, j) for each quad of sums that is this thread's to store: sum[i][j] and the
// three after it, `quad` being its number.
template <class S, class Visit>
__device__ __forceinline__ void for_own_quads(Visit visit) {
#pragma unroll
  for (int i = 0; i < S::kTM; ++i) {
    if (i / S::kOwnRows != own_slice<S>()) continue;
#pragma unroll
    for (int j = 0; j < S::kTN; j += 4) visit(i % S::kOwnRows * (S::kTN / 4) + j / 4, i, j);
  }
}

// Quad (i, j) of the thread's sums, into C.
template <class S, bool kWhole>
__device__ __forceinline__ void store(const kzoo::gemm<float>& g, const common::warp_place<S>& p,
                                      int i, int j, const float* sum) {
  const int row = p.row0 + spread_row(p, i), col = p.col0 + spread_col(p, j);
  if constexpr (kWhole) {  // N is a multiple of 4: the four are inside or not together
    if (row < g.m && col < g.n) common::store_sums<true>(g, row, col, sum);
  } else {
    common::store_sums<false>(g, row, col, sum);
  }
}

// A quad of the partial sums in a slot of the workspace.
template <class S>
__device__ float4& partial(float4* workspace, int slot, int quad, const common::warp_place<S>& p) {
  const std::int64_t first = (std::int64_t{slot} * S::kOwnQuads + quad) * S::kBlockThreads;
  return workspace[first + block_thread(p)];
}

// The second kernel: one shared tile for each blockIdx.x, kQuadsAtATime of each thread's quads for
// each blockIdx.y.
inline constexpr int kQuadsAtATime = 2;
template <class S, bool kWhole>
__global__ void __launch_bounds__(S::kBlockThreads)
    add_partial_sums(kzoo::gemm<float> g, schedule work, float4* workspace) {
  static_assert(S::kOwnQuads % kQuadsAtATime == 0, "every quad must have its blockIdx.y");
  const int tile = work.alone + static_cast<int>(blockIdx.x);
  const std::int64_t first_step = std::int64_t{tile} * work.depth;
  const int first = work.sharer_of(first_step), last = work.sharer_of(first_step + work.depth - 1);
  if (first == last) return;  // one block had all of the tile, and has stored it
  // The blocks after the first begin in this tile.
  const int first_slot = work.slot(first, work.begin(first) >= first_step);
  const auto p = place_in<S>(work, tile);
  for_own_quads<S>([&](int quad, int i, int j) {
    if (quad / kQuadsAtATime != static_cast<int>(blockIdx.y)) return;
    const float4 part = partial<S>(workspace, first_slot, quad, p);
    float sum[4] = {part.x, part.y, part.z, part.w};
#pragma unroll 4
    for (int block = first + 1; block <= last; ++block) {
      const float4 next = partial<S>(workspace, work.slot(block, true), quad, p);
      sum[0] += next.x;
      sum[1] += next.y;
      sum[2] += next.z;
      sum[3] += next.w;
    }
    store<S, kWhole>(g, p, i, j, sum);
  });
}

}  // namespace pipelined
