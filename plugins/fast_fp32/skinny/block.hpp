#pragma once
// What both kernels have in common: where a block is, its part of X, the copies of W, and what
// becomes of its sums.
//
// Each warp has a ring of stages, which its own asynchronous copies fill with W: a lane reads what
// it has copied itself, so that it waits for no other lane, and never at a barrier.

#include <fast_fp32/common/arrivals.hpp>
#include <fp32/common/vec4.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/dependent_launch.hpp>

#include "product.hpp"

namespace skinny {

// The parts of each sum, in the workspace, and their counters.
struct partial_sums {
  common::arrivals arrivals;
  float* parts;

  static std::size_t bytes(const division& d, int rows) {
    if (d.parts == 1) return 0;
    return common::arrivals::bytes(d.sums()) +
           sizeof(float) * kStrip * rows * d.parts * static_cast<std::size_t>(d.sums());
  }
  static partial_sums in(void* workspace, const division& d, unsigned long long run) {
    auto* const bytes = static_cast<unsigned char*>(workspace);
    if (d.parts == 1) return {};
    return {{static_cast<unsigned long long*>(workspace), run},
            reinterpret_cast<float*>(bytes + common::arrivals::bytes(d.sums()))};
  }
};

// The running block's place in the product.
template <class Tile>
struct place {
  int sum = static_cast<int>(blockIdx.x), part = static_cast<int>(blockIdx.y), row0, col0, k0;

  __device__ explicit place(const division& d)
      : row0(sum / d.strips * Tile::kRows), col0(sum % d.strips * kStrip), k0(part * d.steps) {}
};

// Starts to copy the block's part of X, row by row, with zeros past the edges.
template <class Tile>
__device__ __forceinline__ void copy_x(const product& p, const place<Tile>& at, int steps,
                                       float* x) {
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * steps; i += kThreads) {
    // Neighbouring threads read neighbours in memory.
    const int row = p.x_step == 1 ? i / steps : i % Tile::kRows;
    const int step = p.x_step == 1 ? i % steps : i / Tile::kRows;
    const int from_row = at.row0 + row, from_step = at.k0 + step;
    kzoo::copy_async<4>(x + row * steps + step, p.x + from_row * p.x_row + from_step * p.x_step,
                        from_row < p.few && from_step < p.k);
  }
}

// A line of W: each lane has four of its kStrip floats, neighbours where they can be copied
// together. `first`: of `end`, the number of the line's first float in its row of W.
template <bool kAligned>
struct line {
  static __device__ __forceinline__ int position(int lane, int i) {
    return kAligned ? 4 * lane + i : lane + 32 * i;
  }
  static __device__ __forceinline__ void copy(float* to, const float* row, int first, int end,
                                              int lane, bool inside) {
    constexpr int kCopies = kAligned ? 1 : 4;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int at = position(lane, i);
      kzoo::copy_async<16 / kCopies>(to + at, row + first + at, inside && first + at < end);
    }
  }
  static __device__ __forceinline__ void read(const float* from, int lane, float (&to)[4]) {
    if constexpr (kAligned) {
      common::read_vec4(from + 4 * lane, to);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i] = from[position(lane, i)];
    }
  }
};

// Calls multiply(i, its lines) for `count` stages, one after the other, each filled by copy(i, its
// lines) long before. Before the first of them X is complete, whose copies the caller has started.
template <class Tile, class Copy, class Multiply>
__device__ __forceinline__ void for_each_stage(float* ring, int count, const Copy& copy,
                                               const Multiply& multiply) {
  constexpr int kStage = kLines * kStrip, kAhead = Tile::kStages - 1;
  float* const last = ring + kAhead * kStage;
#pragma unroll 1
  for (int i = 0; i < kAhead; ++i) {
    if (i < count) copy(i, ring + i * kStage);
    kzoo::commit_group();  // the first has X as well
  }
  kzoo::wait_group<kAhead - 1>();
  __syncthreads();  // X is complete
  float *reading = ring, *filling = last;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    if (i + kAhead < count) copy(i + kAhead, filling);
    kzoo::commit_group();
    kzoo::wait_group<kAhead>();
    multiply(i, reading);
    filling = reading;
    reading = reading == last ? ring : reading + kStage;
  }
  kzoo::wait_group<0>();
}

// C, or the block's part of it: sum_of(i) for sum i of kSums, row by row of the strip. The last
// block of a strip adds up its parts. A dependent launch has touched neither C nor the workspace
// before.
template <class Tile, class Sum>
__device__ __forceinline__ void finish(const product& p, const division& d, const place<Tile>& at,
                                       const partial_sums& sums, const Sum& sum_of) {
  kzoo::wait_for_previous();
  const auto store = [&](int i, float sum) {
    p.store(at.row0 + i / kStrip, at.col0 + i % kStrip, sum);
  };
  if (d.parts == 1) {
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kSums; i += kThreads) store(i, sum_of(i));
    return;
  }
  float* const of_strip = sums.parts + std::int64_t{at.sum} * d.parts * Tile::kSums;
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kSums; i += kThreads) {
    __stcg(of_strip + std::int64_t{at.part} * Tile::kSums + i, sum_of(i));
  }
  if (!sums.arrivals.is_last(at.sum, d.parts)) return;
  // Loads of many parts at a time: each takes as long as it takes to reach L2.
  constexpr int kEach = (Tile::kSums + kThreads - 1) / kThreads;
  float total[kEach] = {};
#pragma unroll 8
  for (int part = 0; part < d.parts; ++part) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = static_cast<int>(threadIdx.x) + j * kThreads;
      if (i < Tile::kSums) total[j] += __ldcg(of_strip + std::int64_t{part} * Tile::kSums + i);
    }
  }
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const int i = static_cast<int>(threadIdx.x) + j * kThreads;
    if (i < Tile::kSums) store(i, total[j]);
  }
}

}  // namespace skinny
