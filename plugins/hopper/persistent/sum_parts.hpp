#pragma once
// The second launch where K is split: adds up what the blocks have left of each tile of C.

#include <kzoo/dependent_launch.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <hopper/common/partial_sums.hpp>

#include "kernel.hpp"

namespace persistent {

inline constexpr int kSumThreads = 256;

// A thread adds up four accumulators, in the order of K. They lie as their warpgroup left them.
template <class G, class Tile>
__global__ void __launch_bounds__(kSumThreads)
    sum_parts(G g, schedule<Tile> work, partial_sums<Tile> sums, bool pairs) {
  kzoo::wait_for_previous();
  using P = partial_sums<Tile>;
  const int unit = static_cast<int>(blockIdx.x) * kSumThreads + static_cast<int>(threadIdx.x);
  const int thread = unit % kzoo::kWarpgroup, v = unit / kzoo::kWarpgroup % P::kVec4s;
  const int warpgroup = unit / kzoo::kWarpgroup / P::kVec4s % Tile::kWarpgroups;
  const int block =
      unit / kzoo::kWarpgroup / P::kVec4s / Tile::kWarpgroups;  // those of the first parts
  const int tile = block / Tile::kCluster, rank = block % Tile::kCluster;

  const auto c = work.origin(tile, rank % Tile::kClusterM, rank / Tile::kClusterM);
  const int row0 = c.row + warpgroup * 64, col0 = c.col + 8 * v;
  const int row = row0 + thread / 32 * 16 + thread % 32 / 4, col = col0 + thread % 4 * 2;
  if (row0 >= g.m || col0 >= g.n) return;
  const std::ptrdiff_t next = std::ptrdiff_t{work.all_tiles()} * Tile::kCluster *
                              Tile::kWarpgroups * P::kVec4s * kzoo::kWarpgroup;
  const float4* from = sums.slots + unit;
  float4 sum = __ldcg(from);
#pragma unroll 8
  for (int part = 1; part < work.splits; ++part) {
    const float4 more = __ldcg(from + part * next);
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
    sum.w += more.w;
  }
  float acc[4] = {sum.x, sum.y, sum.z, sum.w};
  if constexpr (finishes<G>) g.finish(row, col, acc);
  if constexpr (stores_itself<G>) {
    g.store(pairs, row0, col0, acc);
  } else if (pairs) {
    common::store_pair<true>(g, row, col, acc[0], acc[1]);
    common::store_pair<true>(g, row + 8, col, acc[2], acc[3]);
  } else {
    common::store_pair<false>(g, row, col, acc[0], acc[1]);
    common::store_pair<false>(g, row + 8, col, acc[2], acc[3]);
  }
}

// Enqueues it after the launch whose blocks leave the parts.
template <class G, class Tile>
void launch_sum_parts(const G& g, const schedule<Tile>& work, const partial_sums<Tile>& sums,
                      kzoo::stream_t stream) {
  const int units =
      work.all_tiles() * Tile::kCluster * Tile::kWarpgroups * partial_sums<Tile>::kVec4s;
  static_assert(partial_sums<Tile>::kVec4s * kzoo::kWarpgroup % kSumThreads == 0);
  kzoo::launch({.grid = dim3(units * kzoo::kWarpgroup / kSumThreads),
                .block = dim3(kSumThreads),
                .max_threads = kSumThreads,
                .stream = stream,
                .dependent = true},
               sum_parts<G, Tile>, g, work, sums, pairs_aligned(g));
}

}  // namespace persistent
