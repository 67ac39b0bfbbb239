#pragma once
// Where the rows of W lie across its strips: a lane has four columns of its strip, and the sums of
// all rows of X with them in registers. The warps of a block divide its part of K among themselves,
// and add up what they have at the end.

#include "block.hpp"

namespace skinny {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
    strips_kernel(product p, division d, partial_sums sums) {
  kzoo::release_dependents();
  const place<Tile> at(d);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float* const x = kzoo::dynamic_shared<float>();  // (kRows, steps)
  float* const rings = x + Tile::kRows * d.steps;  // (kWarps, kStages, kLines, kStrip)
  copy_x<Tile>(p, at, d.steps, x);

  // The warp's part of the block's steps along K, as far as there are any.
  const int first = warp * (d.steps / kWarps);
  const int steps = max(min(d.steps / kWarps, p.k - (at.k0 + first)), 0);
  const auto copy = [&](int stage, float* lines) {
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      const int k = at.k0 + first + stage * kLines + i;
      line<kAligned>::copy(lines + i * kStrip, p.w + k * p.w_line, at.col0, p.wide, lane, k < p.k);
    }
  };
  float acc[Tile::kRows][4] = {};
  const auto multiply = [&](int stage, const float* lines) {
    float w[kLines][4];
#pragma unroll
    for (int i = 0; i < kLines; ++i) line<kAligned>::read(lines + i * kStrip, lane, w[i]);
#pragma unroll
    for (int row = 0; row < Tile::kRows; ++row) {
      float of_row[kLines];
      static_assert(kLines == 4);
      common::read_vec4(x + row * d.steps + first + stage * kLines, of_row);
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[row][j] += of_row[i] * w[i][j];
      }
    }
  };
  for_each_stage<Tile>(rings + warp * Tile::kRing, kzoo::ceil_div(steps, kLines), copy, multiply);

  __syncthreads();  // X and the rings are free
#pragma unroll
  for (int row = 0; row < Tile::kRows; ++row) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      x[warp * Tile::kSums + row * kStrip + line<kAligned>::position(lane, j)] = acc[row][j];
    }
  }
  __syncthreads();
  finish(p, d, at, sums, [&](int i) {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += x[w * Tile::kSums + i];
    return sum;
  });
}

}  // namespace skinny
