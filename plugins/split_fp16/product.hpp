#pragma once
// C from the parts: for each k tile three products instead of one, from the same two tiles.
// Producer, consumers, clusters and multicast are those of plugins/persistent. What is new is what
// happens to the sums: tensor cores truncate when they add, so what they have summed over
// `Interval` steps along K is added to a second set of registers, which rounds (promotion).

#include <common/store_pairs.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/cluster.hpp>
#include <kzoo/dependent_launch.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>
#include <kzoo/wgmma.hpp>
#include <persistent/partial_sums.hpp>
#include <persistent/schedule.hpp>
#include <warp_specialized/pipeline.hpp>

#include <cmath>

#include "parts.hpp"
#include "repair.hpp"

namespace split_fp16 {

using persistent::assignment;
using persistent::partial_sums;
using persistent::schedule;
using warp_specialized::barriers;
using warp_specialized::position;

// A block computes 128 x BN of C, a cluster of two 256 x BN.
template <int BN, int Stages, int Interval>
struct tiling {
  static constexpr int kBM = 128, kBN = BN, kBK = kChunk, kStages = Stages;
  static constexpr int kClusterM = 2, kClusterN = 1, kCluster = 2;
  static constexpr bool kManyTiles = true;  // the last wave is shared
  static constexpr int kWarpgroups = 2, kThreads = (kWarpgroups + 1) * kzoo::kWarpgroup;
  static constexpr int kAccumulators = BN / 2;          // of a thread
  static constexpr int kPromotion = Interval / kChunk;  // k tiles
  using a_tile = kzoo::swizzled_tile<__half, kBM, 2 * kChunk>;
  using b_tile = kzoo::swizzled_tile<__half, BN, 2 * kChunk>;
  using b_half = kzoo::swizzled_tile<__half, BN / kCluster, 2 * kChunk>;  // of the one or the other
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  static_assert(Interval % kChunk == 0 && b_half::kBytes % b_tile::kAlignment == 0);
};

template <class S>
struct operand_maps {
  kzoo::tensor_map<typename S::a_tile> a;
  kzoo::tensor_map<typename S::b_half> b;

  static operand_maps of(const parts& p) {
    const auto cols = static_cast<int>(p.row_length());
    return {
        kzoo::make_tensor_map<typename S::a_tile>(p.a, static_cast<int>(p.m), cols, p.row_length()),
        kzoo::make_tensor_map<typename S::b_half>(p.b, static_cast<int>(p.n), cols,
                                                  p.row_length())};
  }
};

template <class S>
__device__ __forceinline__ void produce(const operand_maps<S>& maps, const schedule<S>& work,
                                        __half* stages, barriers<S::kStages>& sync) {
  const int rank = work.m_rank(), turns = work.turns();
  position<S::kStages> at;
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, at.advance()) {
      const int k = c.k_tile(i) * 2 * kChunk;
      __half* a = stages + at.stage * S::kStage;
      __half* b = a + S::a_tile::kElements + rank * S::b_half::kElements;
      kzoo::mbarrier& full = sync.full[at.stage];
      sync.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_and_expect(S::kStage * sizeof(__half));  // from both blocks
      kzoo::tma_load(maps.a, a, c.row, k, full);
      kzoo::tma_load_multicast(maps.b, b, c.col + rank * S::b_half::kRows, k, full,
                               (1u << S::kCluster) - 1);
    }
  }
}

// Starts the three products of a k tile: acc += them. `first`: acc = them instead.
template <class S>
__device__ __forceinline__ void multiply_k_tile(const __half* stage, int row, bool first,
                                                float (&acc)[S::kAccumulators]) {
  const __half* b_stage = stage + S::a_tile::kElements;
  const auto a = [&](int k) { return kzoo::k_major<typename S::a_tile>(stage, row, k); };
  const auto b = [&](int k) { return kzoo::k_major<typename S::b_tile>(b_stage, 0, k); };
  kzoo::wgmma_fence();
#pragma unroll
  for (int k = 0; k < kChunk; k += 16) {  // small products first
    kzoo::wgmma<S::kBN>(acc, a(k), b(k + kChunk), k > 0 || !first);
    kzoo::wgmma<S::kBN>(acc, a(k + kChunk), b(k), true);
  }
#pragma unroll
  for (int k = 0; k < kChunk; k += 16) kzoo::wgmma<S::kBN>(acc, a(k), b(k), true);
  kzoo::wgmma_commit();
}

// A warpgroup's 64 rows of a tile of C, summed along K. `interval`: k tiles from one promotion to
// the next.
template <class S, class Release>
__device__ __forceinline__ void consume(const __half* stages, barriers<S::kStages>& sync,
                                        position<S::kStages>& at, int k_tiles, int interval,
                                        int warpgroup, Release release,
                                        float (&sum)[S::kAccumulators]) {
#pragma unroll
  for (float& x : sum) x = 0.0f;
  // One warpgroup begins with half an interval, so that it does not add when the other does.
  int end = warpgroup == 0 ? interval : (interval + 1) / 2;
  for (int k_tile = 0; k_tile < k_tiles; end += interval) {
    float acc[S::kAccumulators];
    int last = 0;
    for (const int begin = k_tile; k_tile < min(end, k_tiles); ++k_tile) {
      sync.full[at.stage].wait(at.parity);
      multiply_k_tile<S>(stages + at.stage * S::kStage, warpgroup * 64, k_tile == begin, acc);
      if (k_tile > begin) {
        kzoo::wgmma_wait<1>();
        release(last);
      }
      last = at.stage;
      at.advance();
    }
    kzoo::wgmma_wait<0>(acc);
    release(last);
#pragma unroll
    for (int i = 0; i < S::kAccumulators; ++i) sum[i] += acc[i];
  }
}

// A warpgroup's part of C, 64 x BN, in shared memory: what there is to know about its rows and
// columns, and room for repairs.
template <int BN>
struct part_of_c {
  tally of_rows[64], of_cols[BN];
  int rows[64], cols[BN];  // in words
  alignas(16) float col_scales[BN], tiles[repair_tiling::kElements];
};

// Starts to load what there is to know about a part of C: when a tile begins, so that it is there
// when the tile ends.
template <int BN>
__device__ __forceinline__ void start_loading(part_of_c<BN>& to, const parts& p, int row0,
                                              int col0) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const auto load = [](tally& word, const tally* from, int i, std::int64_t count) {
    kzoo::copy_async<sizeof(tally)>(&word, i < count ? from + i : from, i < count);
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
template <int BN>
__device__ __forceinline__ int make_words(part_of_c<BN>& part, int k, bool guarded, int barrier) {
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  kzoo::wait_group<0>();  // each thread for its own
  int all = 0;
  if (thread < 64) all = part.rows[thread] = about::word(part.of_rows[thread], k, guarded);
#pragma unroll
  for (int i = 0; i < BN; i += kzoo::kWarpgroup) {
    if (i + thread >= BN) continue;
    const int word = about::word(part.of_cols[i + thread], k, guarded);
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

// A finished part of C, from (row0, col0) on. What needs fp32 is computed again.
template <class S, bool kGuarded>
__device__ __forceinline__ void finish(const kzoo::gemm<float>& g, bool plain, int row0, int col0,
                                       int barrier, part_of_c<S::kBN>& part,
                                       const float (&sum)[S::kAccumulators]) {
  const int flags = make_words(part, g.k, kGuarded, barrier);
  const bool repairs = about::needs_fp32(flags), far = (flags & about::kFar) != 0;
  if (plain && !far && !repairs) {
    return store_plain<S::kBN>(g, part, row0, col0, sum);
  }
  store_any<S::kBN>(g, part, row0, col0, sum);
  for (int col = 0; repairs && col < S::kBN && col0 + col < g.n; col += repair_tiling::kSize) {
    const int i = static_cast<int>(threadIdx.x) % repair_tiling::kSize;
    const int of_these = flags_of_all(part.rows[i] | part.cols[col + i], barrier);
    if (about::needs_fp32(of_these)) {
      repair(g, part.rows, part.cols + col, row0, col0 + col, barrier, part.tiles);
    }
  }
}

// Shared memory: the stages, then what consumers have of C, then barriers.
template <class S>
inline constexpr std::size_t kSharedBytes = sizeof(__half) * S::kStages* S::kStage +
                                            sizeof(part_of_c<S::kBN>) * S::kWarpgroups +
                                            sizeof(barriers<S::kStages>);

// alpha has an exponent near 0, C is not added to, and its pairs of columns are aligned.
inline bool with_plain_stores(const kzoo::gemm<float>& g) {
  const float alpha = std::abs(g.alpha);
  return g.beta == 0.0f && common::pairs_aligned(g) && alpha > 0x1p-30f && alpha < 0x1p30f;
}

template <class S, bool kGuarded>
__global__ void __launch_bounds__(S::kThreads, 1)
    product_kernel(const __grid_constant__ operand_maps<S> maps, kzoo::gemm<float> g, parts p,
                   schedule<S> work, partial_sums<S> sums, bool plain) {
  __half* stages = kzoo::dynamic_shared<__half>();
  auto* c_parts = reinterpret_cast<part_of_c<S::kBN>*>(stages + S::kStages * S::kStage);
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(c_parts + S::kWarpgroups);
  const int warpgroup = static_cast<int>(threadIdx.x) / kzoo::kWarpgroup;
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
  const bool producer = threadIdx.x == S::kWarpgroups * kzoo::kWarpgroup;
  if (producer) {
    kzoo::prefetch(maps.a);
    kzoo::prefetch(maps.b);
    sync.init(S::kWarpgroups * S::kCluster);
  }
  kzoo::cluster_sync();
  kzoo::wait_for_previous();  // for the parts

  using registers = warp_specialized::registers<S>;
  if (warpgroup == S::kWarpgroups) {
    kzoo::release_registers<registers::kProducer>();
    if (producer) produce(maps, work, stages, sync);
  } else {
    kzoo::request_registers<registers::kConsumer>();
    part_of_c<S::kBN>& my_part = c_parts[warpgroup];
    position<S::kStages> at;
    const auto release = [&](int stage) {
      if (thread < S::kCluster) sync.empty[stage].arrive_in(thread);
    };
    // With few terms there is no other error beside that of truncation.
    constexpr int kFewTerms = 1024;
    const int turns = work.turns(), interval = g.k <= kFewTerms ? 1 : S::kPromotion;
    for (int turn = 0; turn < turns; ++turn) {
      const assignment mine = work.at(turn);
      const int row = mine.row + warpgroup * 64;
      start_loading(my_part, p, row, mine.col);
      float sum[S::kAccumulators];

      consume<S>(stages, sync, at, mine.count(), interval, warpgroup, release, sum);
      if (mine.begin > 0) {
        sums.leave(sum, warpgroup);
        continue;
      }
      if (mine.end < work.k_tiles) sums.collect(work, mine.shared_tile, warpgroup, sum);
      finish<S, kGuarded>(g, plain, row, mine.col, 1 + warpgroup, my_part, sum);
    }
  }
  kzoo::cluster_sync();  // the other block still reaches into this one's barriers
}

}  // namespace split_fp16
