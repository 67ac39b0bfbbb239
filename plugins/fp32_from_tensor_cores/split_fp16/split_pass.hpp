#pragma once
// The splitting pass. A vector can be scaled only when its largest element is known. A row of A
// takes one pass: threads read it, find its maximum, and still have it in registers. A panel of
// columns of B is shared by several blocks, one for each tile along K: each has its tile in shared
// memory, tells the others its maxima, and waits for theirs.
//
//   blocks    tiles of panel 0 | some rows of A | tiles of panel 1 | some rows of A | ...
//
// Blocks start in the order of their numbers, as prefix sums that look back rely on, too. So a
// panel's tiles come to run together, as long as there are few of them. Where there are many, there
// are two launches instead: for maxima, and for the rest.

#include <kzoo/dependent_launch.hpp>
#include <kzoo/gemm.hpp>
#include <kzoo/launch.hpp>

#include "parts.hpp"
#include "split_eight.hpp"

#include <bit>

namespace split_fp16 {

struct split_tiling {
  static constexpr int kThreads = 256, kBlocksPerSm = 4;
  static constexpr int kKept = 4;  // groups of eight of a row that a thread keeps
  static constexpr int kCols = kPanel, kSteps = kTile;  // of B that a block splits
  static_assert(kThreads / 32 * 4 == kCols);
};

// Words for the launch that comes next, which has to find zeros there.
struct zeroed {
  unsigned* words;
  int count;

  // One block's threads call this.
  __device__ __forceinline__ void clear() const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += split_tiling::kThreads) {
      words[i] = 0;
    }
  }
};

// Which block does what.
struct split_plan {
  int threads_per_row;        // threads that share a row of A
  int tiles, rows, each;      // blocks for a panel: for B, for A, and together
  bool finds, splits;         // this launch finds maxima of B, and splits the rest
  unsigned long long number;  // what a flag becomes

  template <class Format>
  split_plan(const parts<Format>& p, int k, unsigned long long new_number)
      : tiles(p.tiles), finds(true), splits(true), number(new_number) {
    using S = split_tiling;
    const auto shared_by = std::bit_ceil(static_cast<unsigned>(kzoo::ceil_div(k, 8 * S::kKept)));
    threads_per_row = std::clamp(static_cast<int>(shared_by), 32, S::kThreads);
    rows = kzoo::ceil_div(kzoo::ceil_div(static_cast<int>(p.m), S::kThreads / threads_per_row),
                          p.panels());
    each = tiles + rows;
  }
};

// kWidth: elements of a load, 4 where rows are aligned to 16 bytes. A warp takes 256 neighbours
// along K at a time: four for each lane, and four for each lane again, so that loads are
// contiguous.
template <class Format, int kWidth>
__device__ __forceinline__ void split_rows(const kzoo::gemm<float>& g, const parts<Format>& out,
                                           unsigned threads_per_row, int block) {
  constexpr unsigned kKept = split_tiling::kKept, kMostRows = split_tiling::kThreads / 32;
  constexpr unsigned kHalf = 128;
  __shared__ unsigned largest[kMostRows], high[kMostRows];
  const unsigned thread = threadIdx.x, in_block = thread / threads_per_row, lane = thread % 32;
  const int row = block * (split_tiling::kThreads / threads_per_row) + static_cast<int>(in_block);
  const unsigned first = thread % threads_per_row / 32 * 2 * kHalf,
                 step = threads_per_row / 32 * 2 * kHalf;
  const unsigned k = row < g.m ? g.k : 0, k_end = row < g.m ? out.padded_k() : 0;
  const float* from = g.a + row * g.lda;
  auto* to = out.a + row * out.k_chunks * out.kRow;
  const auto load_four = [&](unsigned k0, float* x) {
    if (kWidth == 4 && k0 + 4 <= k) [[likely]] {
      const float4 four = __ldcs(reinterpret_cast<const float4*>(from + k0));
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = k0 + i < k ? from[k0 + i] : 0.0f;
    }
  };
  const auto load = [&](unsigned k0, float(&x)[8]) {
    load_four(k0 + 4 * lane, x);
    load_four(k0 + kHalf + 4 * lane, x + 4);
  };
  const auto largest_of = [](const float(&x)[8], unsigned most) {
#pragma unroll
    for (int i = 0; i < 8; ++i) most = max(most, magnitude(x[i]));
    return most;
  };
  if (thread < kMostRows) largest[thread] = high[thread] = 0;
  float kept[kKept][8];
#pragma unroll
  for (unsigned j = 0; j < kKept; ++j) load(first + j * step, kept[j]);
  unsigned mine = 0;
#pragma unroll
  for (unsigned j = 0; j < kKept; ++j) mine = largest_of(kept[j], mine);
  for (unsigned k0 = first + kKept * step; k0 < k_end; k0 += step) {  // of a very long row
    float x[8];
    load(k0, x);
    mine = largest_of(x, mine);
  }
  mine = __reduce_max_sync(~0u, mine);
  __syncthreads();  // there is a maximum to compare with
  if (lane == 0) atomicMax(&largest[in_block], mine);
  __syncthreads();  // it is known

  const float scale = power_of_two::of(-Format::exponent_of(largest[in_block]));
  unsigned my_high = 0;
  bool representable = true;
  // Eight neighbours: an even lane takes its own first four and those of the odd lane after it, the
  // odd one both second fours.
  const auto split = [&](float(&x)[8], unsigned k0) {
    const bool odd = lane % 2 != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float other = __shfl_xor_sync(~0u, odd ? x[i] : x[4 + i], 1);
      x[i] = odd ? other : x[i];
      x[4 + i] = odd ? x[4 + i] : other;
    }
    const split_eight<Format> eight(x, scale);
    eight.store(to, out.kRow, k0 + lane / 2 * 8, k0 + kHalf + lane / 2 * 8, k_end);
    my_high += eight.high;
    representable = representable && eight.representable;
  };
#pragma unroll
  for (unsigned j = 0; j < kKept; ++j) {
    if (first + j * step < k_end) split(kept[j], first + j * step);
  }
  for (unsigned k0 = first + kKept * step; k0 < k_end; k0 += step) {
    float x[8];
    load(k0, x);
    split(x, k0);
  }
  my_high = __reduce_add_sync(~0u, my_high);
  representable = __all_sync(~0u, representable);
  if (lane == 0) {
    atomicAdd(&high[in_block], my_high);
    if (!representable) atomicOr(&high[in_block], vector_summary::kNotRepresentable);
  }
  __syncthreads();  // all have counted
  if (thread % threads_per_row == 0 && row < g.m)
    out.rows[row] = {largest[in_block], high[in_block]};
}

// A tile of B: part `tile` of a panel along K. It is transposed in shared memory.
template <class Format, int kWidth>
__device__ __forceinline__ void split_columns(const kzoo::gemm<float>& g, const parts<Format>& out,
                                              const split_plan& plan, int panel, int number) {
  constexpr int kThreads = split_tiling::kThreads, kCols = split_tiling::kCols,
                kSteps = split_tiling::kSteps;
  __shared__ __align__(16) float tile[kSteps * kCols];  // [step along K][column]
  __shared__ unsigned largest[kCols], high[kCols];
  // Rows are permuted in groups of 8, so that both the copies and the reads along K have no bank
  // conflicts.
  const auto at = [](unsigned k, unsigned col) { return (k * kCols + col) ^ (k / 8 % 8 * 4); };
  const int col0 = panel * kCols, k0 = number * kSteps;
  const unsigned thread = threadIdx.x;
  const unsigned my_col = thread * kWidth % kCols, my_row = thread * kWidth / kCols;
  constexpr unsigned kLoads = kSteps * kCols / (kThreads * kWidth), kDown = kSteps / kLoads;
  if (thread < kCols) largest[thread] = high[thread] = 0;
  __syncthreads();  // there are maxima to compare with
  unsigned most[kWidth] = {};
  const bool col_inside = col0 + static_cast<int>(my_col) < g.n;
  constexpr unsigned kBatch = kLoads < 8 ? kLoads : 8;  // loads in flight
#pragma unroll 1
  for (unsigned begin = 0; begin < kLoads; begin += kBatch) {
    float x[kBatch][kWidth] = {};
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      const int k = k0 + static_cast<int>(my_row + (begin + j) * kDown);
      if (!col_inside || k >= g.k) continue;
      const float* from = &g.b_at(k, col0 + static_cast<int>(my_col));
      if constexpr (kWidth == 4) {
        const float4 four = __ldcs(reinterpret_cast<const float4*>(from));
        x[j][0] = four.x, x[j][1] = four.y, x[j][2] = four.z, x[j][3] = four.w;
      } else {
        x[j][0] = __ldcs(from);
      }
    }
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j) {
      float* to = tile + at(my_row + (begin + j) * kDown, my_col);
      if constexpr (kWidth == 4) {
        *reinterpret_cast<float4*>(to) = make_float4(x[j][0], x[j][1], x[j][2], x[j][3]);
      } else {
        *to = x[j][0];
      }
#pragma unroll
      for (unsigned i = 0; i < kWidth; ++i) most[i] = max(most[i], magnitude(x[j][i]));
    }
  }
#pragma unroll
  for (unsigned i = 0; i < kWidth; ++i) atomicMax(&largest[my_col + i], most[i]);
  __syncthreads();  // the tile is complete, and its maxima are known

  if (plan.finds) {
    if (thread < kCols && col0 + static_cast<int>(thread) < g.n) {
      out.maxima[number * out.n + col0 + thread] = largest[thread];
      if (number == 0) out.cols[col0 + thread] = {0, 0};  // to be counted in
      __threadfence();
    }
    __syncwarp();
    if (thread == 0) atomicExch(out.ready + panel * plan.tiles + number, plan.number);
  }
  if (!plan.splits) return;
  if (plan.finds) {
    for (int i = static_cast<int>(thread); i < plan.tiles; i += kThreads) {
      const volatile unsigned long long* flag = out.ready + panel * plan.tiles + i;
      while (*flag != plan.number) __nanosleep(20);
      __threadfence();
    }
    __syncthreads();  // all tiles' maxima are in memory
  }
  unsigned most_of_all = 0;
  if (col0 + static_cast<int>(thread % kCols) < g.n) {
    for (int i = static_cast<int>(thread / kCols); i < plan.tiles; i += kThreads / kCols) {
      most_of_all = max(most_of_all, __ldcg(out.maxima + i * out.n + col0 + thread % kCols));
    }
  }
  atomicMax(&largest[thread % kCols], most_of_all);
  __syncthreads();  // the maxima of whole columns are known

  // A warp takes four columns, and 64 steps of each at a time: the second 32 are those of odd
  // lanes.
  const unsigned lane = thread % 32, col = thread / 32 * 4 + lane / 8;
  const unsigned k_even = lane % 8 / 2 * 8, my_k = k_even + lane % 2 * 32;
  const float scale = power_of_two::of(-Format::exponent_of(largest[col]));
  const bool inside = col0 + static_cast<int>(col) < g.n;
  const unsigned end = inside ? min(kSteps, out.padded_k() - k0) : 0;
  const int chunk = k0 / Format::kChunk;
  auto* to = out.b + (out.b_row(chunk) + col0 + col) * out.b_cols() + out.b_col(chunk);
  const std::int64_t stride = out.b_row(1) * out.b_cols() + out.b_col(1);  // from chunk to chunk
  const float* from = tile + at(my_k, col);  // at(my_k + i, col) for i < 8 are kCols apart
  unsigned my_high = 0;
  bool representable = true;
#pragma unroll
  for (unsigned j = 0; j < kSteps; j += 64) {
    float x[8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) x[i] = from[(j + i) * kCols];
    const split_eight<Format> eight(x, scale);
    eight.store(to, stride, j + k_even, j + k_even + 32, end);
    my_high += eight.high;
    representable = representable && eight.representable;
  }
  atomicAdd(&high[col], my_high);
  if (!representable) atomicOr(&high[col], vector_summary::kNotRepresentable);
  __syncthreads();  // the block has counted
  if (thread < kCols && col0 + static_cast<int>(thread) < g.n) {
    vector_summary& column = out.cols[col0 + thread];
    if (number == 0) column.largest = largest[thread];
    atomicAdd(&column.high, high[thread] & ~vector_summary::kNotRepresentable);
    if ((high[thread] & vector_summary::kNotRepresentable) != 0)
      atomicOr(&column.high, vector_summary::kNotRepresentable);
  }
}

template <class Format, int kWidthA, int kWidthB>
__global__ void __launch_bounds__(split_tiling::kThreads, split_tiling::kBlocksPerSm)
    split_kernel(kzoo::gemm<float> g, parts<Format> out, split_plan plan, zeroed for_next) {
  kzoo::release_dependents();
  if (blockIdx.x == 0) for_next.clear();
  const int panel = static_cast<int>(blockIdx.x) / plan.each;
  const int i = static_cast<int>(blockIdx.x) % plan.each;
  if (i < plan.tiles) {
    split_columns<Format, kWidthB>(g, out, plan, panel, i);
  } else if (plan.splits) {
    split_rows<Format, kWidthA>(g, out, plan.threads_per_row, panel * plan.rows + i - plan.tiles);
  }
}

// Launches it. `together`: blocks that certainly run at the same time. `number`: new in each run,
// see persistent::partial_sums.
template <class Format>
void split(const kzoo::gemm<float>& g, const parts<Format>& p, zeroed for_next, int together,
           unsigned long long number, kzoo::stream_t stream) {
  const bool vec4_a = kzoo::tma_addressable(g.a, g.lda);
  const bool vec4_b = kzoo::tma_addressable(g.b, g.ldb) && g.n % 4 == 0;
  split_plan plan(p, g.k, number);
  const auto launch = [&] {
    kzoo::launch({.grid = dim3(static_cast<unsigned>(p.panels()) * plan.each),
                  .block = dim3(split_tiling::kThreads),
                  .max_threads = split_tiling::kThreads,
                  .stream = stream},
                 vec4_a ? (vec4_b ? split_kernel<Format, 4, 4> : split_kernel<Format, 4, 1>)
                        : (vec4_b ? split_kernel<Format, 1, 4> : split_kernel<Format, 1, 1>),
                 g, p, plan, for_next);
  };
  if (plan.tiles > together) {
    plan.splits = false;
    launch();
    plan.splits = true;
    plan.finds = false;
  }
  launch();
}

}  // namespace split_fp16
