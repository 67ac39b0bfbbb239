#pragma once
// The splitting pass, in two launches. A vector can be scaled only when its largest element is
// known. A row of A is no problem: a block reads it, finds its maximum, and still has it in
// registers. Columns of B are read twice: for their maxima in the same launch, to be split in the
// next one, which begins with what was read last, while the L2 still has it.

#include <kzoo/async_copy.hpp>
#include <kzoo/dependent_launch.hpp>
#include <kzoo/gemm.hpp>
#include <kzoo/launch.hpp>

#include "parts.hpp"

#include <cstring>

namespace split_fp16 {

__device__ __forceinline__ unsigned magnitude(float x) { return __float_as_uint(x) & 0x7fffffffu; }

// Eight elements of a vector, neighbours along K, and what they say about it.
struct octet {
  __half2 hi[4], lo[4];
  unsigned high = 0;
  bool held = true;

  __device__ __forceinline__ octet(const float (&x)[8], power_of_two scale) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float v = scale * x[2 * i], w = scale * x[2 * i + 1];
      hi[i] = __floats2half2_rn(v, w);
      const float2 upper = __half22float2(hi[i]);
      const float v_rest = v - upper.x, w_rest = w - upper.y;
      lo[i] = __floats2half2_rn(v_rest, w_rest);
      const float2 lower = __half22float2(lo[i]);
      look_at(x[2 * i], v, v_rest - lower.x);
      look_at(x[2 * i + 1], w, w_rest - lower.y);
    }
  }

  // To a vector's parts, at k, a multiple of 8.
  __device__ __forceinline__ void store(__half* vector, int k) const {
    __half* to = vector + k / kChunk * 2 * kChunk + k % kChunk;
    uint4 of_hi, of_lo;
    std::memcpy(&of_hi, hi, sizeof of_hi);
    std::memcpy(&of_lo, lo, sizeof of_lo);
    *reinterpret_cast<uint4*>(to) = of_hi;
    *reinterpret_cast<uint4*>(to + kChunk) = of_lo;
  }

 private:
  // An element, the same scaled, and what of that is lost. Without branches.
  __device__ __forceinline__ void look_at(float x, float v, float lost) {
    const bool vanished = int(v == 0.0f) & int(x != 0.0f);
    held = int(held) & int(fabsf(lost) <= 0x1p-23f * fabsf(v)) & int(!vanished);
    high += fabsf(v) >= kHigh;
  }
};

// The first launch: blocks for A, then blocks for the maxima of B. Those have kThreads or more
// threads; each takes kCols columns of one of kRanges ranges along K.
struct first_pass {
  static constexpr int kKept = 4;  // octets of a row that a thread has in registers
  static constexpr int kMostThreads = 512, kLeastThreads = 128, kCols = 32;

  static int threads(int k) {
    constexpr int kWarp = 32;
    const int warps = kzoo::ceil_div(k, 8 * kKept * kWarp);
    return std::clamp(warps * kWarp, kLeastThreads, kMostThreads);
  }
  static unsigned blocks(const kzoo::gemm<float>& g) {
    return static_cast<unsigned>(g.m) + kzoo::ceil_div(g.n, kCols) * kRanges;
  }
  static __host__ __device__ int range(const parts& p) {
    return static_cast<int>((p.k_chunks + kRanges - 1) / kRanges) * kChunk;
  }
};

// kWidth: elements of a load, 4 where rows are aligned to 16 bytes.
template <int kWidth>
__device__ __forceinline__ void split_row(const kzoo::gemm<float>& g, const parts& out, int row) {
  constexpr int kKept = first_pass::kKept;
  __shared__ unsigned largest, high;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = thread * 8, step = static_cast<int>(blockDim.x) * 8;
  const int k_end = static_cast<int>(out.k_chunks) * kChunk;
  const float* from = g.a + row * g.lda;
  __half* to = out.a + row * out.row_length();
  const auto load = [&](int k, float(&x)[8]) {
    if (kWidth == 4 && k + 8 <= g.k) {
      const float4 low = __ldg(reinterpret_cast<const float4*>(from + k));
      const float4 up = __ldg(reinterpret_cast<const float4*>(from + k + 4));
      x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
      x[4] = up.x, x[5] = up.y, x[6] = up.z, x[7] = up.w;
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = k + i < g.k ? from[k + i] : 0.0f;
    }
  };
  const auto largest_of = [](const float(&x)[8], unsigned most) {
#pragma unroll
    for (int i = 0; i < 8; ++i) most = max(most, magnitude(x[i]));
    return most;
  };
  if (thread == 0) largest = high = 0;
  float kept[kKept][8];
#pragma unroll
  for (int j = 0; j < kKept; ++j) load(first + j * step, kept[j]);
  unsigned mine = 0;
#pragma unroll
  for (int j = 0; j < kKept; ++j) mine = largest_of(kept[j], mine);
  for (int k = first + kKept * step; k < k_end; k += step) {  // of a very long row
    float x[8];
    load(k, x);
    mine = largest_of(x, mine);
  }
  mine = __reduce_max_sync(~0u, mine);
  __syncthreads();  // there is a maximum to compare with
  if (thread % 32 == 0) atomicMax(&largest, mine);
  __syncthreads();  // it is known

  const power_of_two scale(-about::exponent_of(largest));
  unsigned my_high = 0;
  bool held = true;
  const auto split = [&](const float(&x)[8], int k) {
    const octet parts(x, scale);
    parts.store(to, k);
    my_high += parts.high;
    held = held && parts.held;
  };
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    if (first + j * step < k_end) split(kept[j], first + j * step);
  }
  for (int k = first + kKept * step; k < k_end; k += step) {
    float x[8];
    load(k, x);
    split(x, k);
  }
  my_high = __reduce_add_sync(~0u, my_high);
  held = __all_sync(~0u, held);
  if (thread % 32 == 0) {
    atomicAdd(&high, my_high);
    if (!held) atomicOr(&high, tally::kNotHeld);
  }
  __syncthreads();  // all have counted
  if (thread == 0) out.rows[row] = {largest, high};
}

// The largest elements of some columns in one range along K.
template <int kWidth>
__device__ __forceinline__ void find_maxima(const kzoo::gemm<float>& g, const parts& out,
                                            int index) {
  constexpr int kCols = first_pass::kCols, kAcross = kCols / kWidth, kUnroll = 8;
  __shared__ unsigned largest[kCols];
  const int thread = static_cast<int>(threadIdx.x);
  const int range = index % kRanges, col0 = index / kRanges * kCols;
  const int steps = first_pass::range(out), end = min((range + 1) * steps, g.k);
  const int col = col0 + thread % kAcross * kWidth;
  const int down = static_cast<int>(blockDim.x) / kAcross;
  if (thread < kCols) largest[thread] = 0;
  __syncthreads();
  unsigned mine[kWidth] = {};
  for (int k0 = range * steps + thread / kAcross; k0 < end; k0 += kUnroll * down) {
    float x[kUnroll][kWidth] = {};
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (k0 + i * down >= end || col >= g.n) continue;
      const float* from = &g.b_at(k0 + i * down, col);
      if constexpr (kWidth == 4) {
        const float4 four = __ldg(reinterpret_cast<const float4*>(from));
        x[i][0] = four.x, x[i][1] = four.y, x[i][2] = four.z, x[i][3] = four.w;
      } else {
        x[i][0] = *from;
      }
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) mine[j] = max(mine[j], magnitude(x[i][j]));
    }
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) atomicMax(&largest[thread % kAcross * kWidth + j], mine[j]);
  __syncthreads();  // the block's maxima are known
  if (thread < kCols && col0 + thread < g.n) {
    out.maxima[range * out.n + col0 + thread] = largest[thread];
    if (range == 0) out.cols[col0 + thread].high = 0;  // for the second launch to count
  }
}

// `flags`: words that have to be 0 when the pass has ended.
template <int kWidthA, int kWidthB>
__global__ void __launch_bounds__(first_pass::kMostThreads)
    split_a_kernel(kzoo::gemm<float> g, parts out, unsigned long long* flags, int flag_count) {
  kzoo::release_dependents();
  const int block = static_cast<int>(blockIdx.x);
  if (block == 0) {
    for (int i = static_cast<int>(threadIdx.x); i < flag_count; i += static_cast<int>(blockDim.x)) {
      flags[i] = 0;
    }
  }
  if (block < g.m) {
    split_row<kWidthA>(g, out, block);
  } else {
    find_maxima<kWidthB>(g, out, block - g.m);
  }
}

// The second launch: a block for kCols columns of B and kSteps along K, which it turns in shared
// memory.
struct second_pass {
  static constexpr int kThreads = 256, kCols = 32, kSteps = 128;
};

template <int kWidth>
__global__ void __launch_bounds__(second_pass::kThreads)
    split_b_kernel(kzoo::gemm<float> g, parts out, int strips) {
  constexpr int kThreads = second_pass::kThreads, kCols = second_pass::kCols,
                kSteps = second_pass::kSteps;
  __shared__ __align__(16) float tile[kSteps * kCols];  // [step along K][column]
  __shared__ unsigned largest[kCols], high[kCols];
  // Rows are permuted in groups of 32 words, so that both the copies and the reads along K have no
  // bank conflicts.
  const auto at = [](int k, int col) { return (k * kCols + col) ^ (k / 8 % 4 * 8); };
  kzoo::release_dependents();
  const int thread = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(gridDim.x - 1 - blockIdx.x);  // what was read last is first
  const int col0 = block % strips * kCols, k0 = block / strips * kSteps;
  const int copy_col = thread * kWidth % kCols, copy_k = thread * kWidth / kCols;
#pragma unroll(kWidth)
  for (int j = 0; j < kSteps * kCols / (kThreads * kWidth); ++j) {
    const int k = copy_k + j * (kThreads * kWidth / kCols);
    const bool inside = k0 + k < g.k && col0 + copy_col < g.n;
    kzoo::copy_async<kWidth * sizeof(float)>(
        tile + at(k, copy_col), inside ? &g.b_at(k0 + k, col0 + copy_col) : g.b, inside);
  }
  kzoo::commit_group();
  kzoo::wait_for_previous();  // for the maxima
  if (thread < kCols) {
    unsigned most = 0;
#pragma unroll
    for (int range = 0; range < kRanges; ++range) {
      if (col0 + thread < g.n) most = max(most, out.maxima[range * out.n + col0 + thread]);
    }
    largest[thread] = most;
    high[thread] = 0;
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the tile is complete, and the maxima are known

  // A warp takes eight columns, four octets of each.
  constexpr int kGroups = kCols / 8, kDown = kThreads / 32 / kGroups * kChunk;
  const int warp = thread / 32, lane = thread % 32;
  const int col = warp % kGroups * 8 + lane / 4;
  const power_of_two scale(-about::exponent_of(largest[col]));
  const int steps = min(kSteps, static_cast<int>(out.k_chunks) * kChunk - k0);
  __half* to = out.b + (col0 + col) * out.row_length();
  unsigned my_high = 0;
  bool held = true;
#pragma unroll
  for (int j = 0; j < kSteps / kDown; ++j) {
    const int k = warp / kGroups * kChunk + lane % 4 * 8 + j * kDown;
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = tile[at(k + i, col)];
    const octet parts(x, scale);
    if (k < steps && col0 + col < g.n) parts.store(to, k0 + k);
    my_high += parts.high;
    held = held && parts.held;
  }
  atomicAdd(&high[col], my_high);
  if (!held) atomicOr(&high[col], tally::kNotHeld);
  __syncthreads();  // the block has counted
  if (thread < kCols && col0 + thread < g.n) {
    tally& column = out.cols[col0 + thread];
    if (k0 == 0) column.largest = largest[thread];
    atomicAdd(&column.high, high[thread] & ~tally::kNotHeld);
    if ((high[thread] & tally::kNotHeld) != 0) atomicOr(&column.high, tally::kNotHeld);
  }
}

}  // namespace split_fp16
