#pragma once
// Where the rows of W in memory go along K: a lane has four steps of every 128, for four columns at
// a time, and at the end its warp adds up what the lanes have.

#include "block.hpp"

namespace skinny {

// Adds up values[i] of all lanes, for each i of N, a power of two. Each lane then has the sums of
// max(N / 32, 1) of them, from values[first] on: lanes exchange halves, so that this takes N - 1
// shuffles and not 5 N. Where N is below 32, groups of 32 / N lanes have the same.
template <int N>
__device__ __forceinline__ int add_lanes(float (&values)[N], int lane) {
  int first = 0;
  int left = N;
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const bool upper = (lane & mask) != 0;
    if (left > 1) {
      left /= 2;
      first += upper ? left : 0;
#pragma unroll
      for (int i = 0; i < N / 2; ++i) {
        if (i >= left) break;
        const float own = upper ? values[i + left] : values[i];
        const float other = upper ? values[i] : values[i + left];
        values[i] = own + __shfl_xor_sync(~0u, other, mask);
      }
    } else {
      values[0] += __shfl_xor_sync(~0u, values[0], mask);
    }
  }
  return first;
}

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    dots_kernel(product p, division d, partial_sums sums) {
  kzoo::release_dependents();
  const place<Tile> at(d);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float* const x = kzoo::dynamic_shared<float>();       // (kRows, steps)
  float* const rings = x + Tile::kRows * d.steps;       // (kWarps, kStages, kLines, kStrip)
  float* const results = rings + kWarps * Tile::kRing;  // (kRows, kStrip)
  copy_x<Tile>(p, at, d.steps, x);

  // A stage has kStrip steps of kLines columns; all stages of the same columns come one after the
  // other.
  constexpr int kColumns = kStrip / kWarps;  // of a warp
  const int first_col = warp * kColumns;
  const int columns = max(min(kColumns, p.wide - (at.col0 + first_col)), 0);
  const int steps = kzoo::ceil_div(min(d.steps, p.k - at.k0), kStrip) * kStrip;
  int copied_col = first_col, copied_step = 0;
  const auto copy = [&](int, float* lines) {
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      const int col = at.col0 + copied_col + i;
      line<kAligned>::copy(lines + i * kStrip, p.w + col * p.w_line, at.k0 + copied_step, p.k, lane,
                           col < p.wide);
    }
    copied_step += kStrip;
    if (copied_step == steps) copied_col += kLines, copied_step = 0;
  };
  float acc[Tile::kRows * kLines] = {};
  int col = first_col, step = 0;
  const auto multiply = [&](int, const float* lines) {
    float w[kLines][4];
#pragma unroll
    for (int i = 0; i < kLines; ++i) line<kAligned>::read(lines + i * kStrip, lane, w[i]);
#pragma unroll
    for (int row = 0; row < Tile::kRows; ++row) {
      float of_row[4];
      line<kAligned>::read(x + row * d.steps + step, lane, of_row);
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[row * kLines + i] += of_row[j] * w[i][j];
      }
    }
    step += kStrip;
    if (step < steps) return;
    // These columns are finished.
    constexpr int kAll = Tile::kRows * kLines, kEach = kAll > 32 ? kAll / 32 : 1;
    constexpr int kAlike = kAll < 32 ? 32 / kAll : 1;  // lanes that have the same: one writes it
    const int sum = add_lanes(acc, lane);
    if (lane % kAlike == 0) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        results[(sum + i) / kLines * kStrip + col + (sum + i) % kLines] = acc[i];
      }
    }
#pragma unroll
    for (float& each : acc) each = 0;
    col += kLines;
    step = 0;
  };
  for_each_stage<Tile>(rings + warp * Tile::kRing,
                       kzoo::ceil_div(columns, kLines) * (steps / kStrip), copy, multiply);

  __syncthreads();
  finish(p, d, at, sums, [&](int i) { return results[i]; });
}

}  // namespace skinny
