#pragma once
// A finished part of C: scaled back and stored, except for what needs fp32, which is repaired.

#include <kzoo/async_copy.hpp>
#include <kzoo/warpgroup.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <cmath>

#include "parts.hpp"
#include "repair.hpp"

namespace split_fp16 {

// alpha has an exponent near 0, C is not added to, and its pairs of columns are aligned.
inline bool with_plain_stores(const kzoo::gemm<float>& g) {
  const float alpha = std::abs(g.alpha);
  return g.beta == 0.0f && common::pairs_aligned(g) && alpha > 0x1p-30f && alpha < 0x1p30f;
}

// A warpgroup's part of C, 64 x BN, in shared memory: what there is to know about its rows and
// columns, and room for repairs.
template <int BN>
struct part_of_c {
  vector_summary of_rows[64], of_cols[BN];
  int rows[64], cols[BN];  // in words
  alignas(16) float col_scales[BN], tiles[repair_tiling::kElements];
};

// Starts to load what there is to know about a part of C: when a tile begins, so that it is there
// when the tile ends.
template <int BN, class Format>
__device__ __forceinline__ void start_loading(part_of_c<BN>& to, const parts<Format>& p, int row0,
                                              int col0) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const auto load = [](vector_summary& word, const vector_summary* from, int i,
                       std::int64_t count) {
    kzoo::copy_async<sizeof(vector_summary)>(&word, i < count ? from + i : from, i < count);
  };
  if (thread < 64) load(to.of_rows[thread], p.rows, row0 + thread, p.m);
#pragma unroll
  for (int i = 0; i < BN; i += kzoo::kWarpgroup) {
    if (i + thread < BN) load(to.of_cols[i + thread], p.cols, col0 + i + thread, p.n);
  }
  kzoo::commit_group();
}

// Words and scales from that. The warpgroup meets at `barrier`. Returns the flags of all words
// together.
template <class Format, int BN>
__device__ __forceinline__ int make_words(part_of_c<BN>& part, int k, bool guarded, int barrier) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  kzoo::wait_group<0>();  // each thread for its own
  int all = 0;
  if (thread < 64) all = part.rows[thread] = about::word<Format>(part.of_rows[thread], k, guarded);
#pragma unroll
  for (int i = 0; i < BN; i += kzoo::kWarpgroup) {
    if (i + thread >= BN) continue;
    const int word = about::word<Format>(part.of_cols[i + thread], k, guarded);
    const int exponent = about::exponent(word);
    part.cols[i + thread] = word;
    part.col_scales[i + thread] =
        power_of_two::of(max(-about::kFarthest, min(exponent, about::kFarthest)));
    all |= word;
  }
  return flags_of_all(all, barrier);
}

// Into C, from (row0, col0) on, without the elements that need fp32. Any exponents, any place.
template <int BN>
__device__ __forceinline__ void store_any(const kzoo::gemm<float>& g, const part_of_c<BN>& part,
                                          int row0, int col0, const float (&sum)[BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
#pragma unroll
  for (int i = 0; i < BN / 2; ++i) {
    const int r = row + i % 4 / 2 * 8, c = col + i / 4 * 8 + i % 2;
    const int of_row = part.rows[r], of_col = part.cols[c];
    if (about::needs_fp32(of_row | of_col)) continue;
    const power_of_two scale(about::exponent(of_row) + about::exponent(of_col));
    g.store_inside(row0 + r, col0 + c, scale * sum[i]);
  }
}

// The same for a problem with_plain_stores() where no element needs fp32 and no exponent is far: in
// few instructions, since in a cold cache they have to be fetched, too.
template <int BN>
__device__ __forceinline__ void store_plain(const kzoo::gemm<float>& g, const part_of_c<BN>& part,
                                            int row0, int col0, const float (&sum)[BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
  const int cols = g.n - col0 - col;  // from this thread's first one on
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (row0 + row + 8 * i >= g.m) continue;
    // Scales are powers of two, so alpha may come first.
    const float scale = g.alpha * power_of_two::of(about::exponent(part.rows[row + 8 * i]));
    auto* to = reinterpret_cast<float2*>(g.c + (row0 + row + 8 * i) * g.ldc + col0 + col);
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
      const float2 of_col = *reinterpret_cast<const float2*>(part.col_scales + col + 8 * j);
      const float2 out = make_float2(sum[4 * j + 2 * i] * of_col.x * scale,
                                     sum[4 * j + 2 * i + 1] * of_col.y * scale);
      if (8 * j < cols) to[4 * j] = out;
    }
  }
}

// What a launch does the same for all of C.
struct how {
  int interval;  // see consume()
  bool guarded;  // finds what needs fp32
  bool plain;    // with_plain_stores()
};

// A finished part of C, from (row0, col0) on. What needs fp32 is computed again.
template <class S>
__device__ __forceinline__ void finish(const kzoo::gemm<float>& g, const how& how, int row0,
                                       int col0, int barrier, part_of_c<S::kBN>& part,
                                       const float (&sum)[S::kAccumulators]) {
  const int flags = make_words<typename S::Format>(part, g.k, how.guarded, barrier);
  const bool repairs = about::needs_fp32(flags), far = (flags & about::kFar) != 0;
  if (how.plain && !far && !repairs) {
    return store_plain<S::kBN>(g, part, row0, col0, sum);
  }
  store_any<S::kBN>(g, part, row0, col0, sum);
  using R = repair_tiling;
  for (int col = 0; repairs && col < S::kBN && col0 + col < g.n; col += R::kCols) {
    const int i = static_cast<int>(threadIdx.x) % R::kRows;
    const int of_these = flags_of_all(part.rows[i] | part.cols[col + i % R::kCols], barrier);
    if (about::needs_fp32(of_these)) {
      repair(g, part.rows, part.cols + col, row0, col0 + col, barrier, part.tiles);
    }
  }
}

}  // namespace split_fp16
