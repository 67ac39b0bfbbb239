#pragma once
// C from the parts: for each k tile several products instead of one, from the same two tiles.
// Producer, consumers, clusters and multicast are those of plugins/persistent. What is new is what
// happens to the sums: tensor cores truncate when they add, so what they have summed over some
// steps along K, an interval, is added to a second set of registers, which rounds (promotion).

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

// A block computes 128 x BN of C, a cluster of two 256 x BN. A k tile is a chunk of all parts, in
// panels of 128 bytes a row.
template <class Format_, int BN, int Stages>
struct tiling {
  using Format = Format_;
  using element = typename Format::element;
  static constexpr int kBM = 128, kBN = BN, kBK = Format::kChunk, kStages = Stages;
  static constexpr int kClusterM = 2, kClusterN = 1, kCluster = 2;
  static constexpr bool kManyTiles = true;  // the last wave is shared
  static constexpr int kWarpgroups = 2, kThreads = (kWarpgroups + 1) * kzoo::kWarpgroup;
  static constexpr int kAccumulators = BN / 2;  // of a thread
  static constexpr int kPanelCols = 64, kPanels = Format::kParts * kBK / kPanelCols;
  using a_panel = kzoo::swizzled_tile<element, kBM, kPanelCols>;
  using b_panel = kzoo::swizzled_tile<element, BN, kPanelCols>;
  using b_half = kzoo::swizzled_tile<element, BN / kCluster, kPanelCols>;  // of one of the blocks
  static constexpr int kStage = kPanels * (a_panel::kElements + b_panel::kElements);
  static_assert(Format::kParts * kBK % kPanelCols == 0 &&
                b_half::kBytes % b_panel::kAlignment == 0);
};

template <class S>
struct operand_maps {
  kzoo::tensor_map<typename S::a_panel> a;
  kzoo::tensor_map<typename S::b_half> b;

  static operand_maps of(const parts<typename S::Format>& p) {
    const auto all_chunks = static_cast<int>(p.k_chunks) * p.kRow;
    const auto b_rows = static_cast<int>(p.n * p.k_chunks);
    return {kzoo::make_tensor_map<typename S::a_panel>(p.a, static_cast<int>(p.m), all_chunks,
                                                       all_chunks),
            kzoo::make_tensor_map<typename S::b_half>(p.b, b_rows, p.kRow, p.kRow)};
  }
};

template <class S>
__device__ __forceinline__ void produce(const operand_maps<S>& maps, const schedule<S>& work, int n,
                                        typename S::element* stages, barriers<S::kStages>& sync) {
  const int rank = work.m_rank(), turns = work.turns();
  position<S::kStages> at;
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, at.advance()) {
      auto* a = stages + at.stage * S::kStage;
      auto* b = a + S::kPanels * S::a_panel::kElements + rank * S::b_half::kElements;
      kzoo::mbarrier& full = sync.full[at.stage];
      sync.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_and_expect(S::kStage * sizeof(typename S::element));  // from both blocks
      const int k_tile = c.k_tile(i);
      // Past the last column there are those of the next k tile: whatever they give is not stored.
      const int b_row = k_tile * n + c.col + rank * S::b_half::kRows;
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        const int b_col = panel * S::kPanelCols, a_col = k_tile * parts<typename S::Format>::kRow;
        kzoo::tma_load(maps.a, a + panel * S::a_panel::kElements, c.row, a_col + b_col, full);
        kzoo::tma_load_multicast(maps.b, b + panel * S::b_panel::kElements, b_row, b_col, full,
                                 (1u << S::kCluster) - 1);
      }
    }
  }
}

// Starts all products of a k tile, small ones first: acc += them. `first`: acc = them instead.
template <class S>
__device__ __forceinline__ void multiply_k_tile(const typename S::element* stage, int row,
                                                bool first, float (&acc)[S::kAccumulators]) {
  using F = typename S::Format;
  const auto* b_stage = stage + S::kPanels * S::a_panel::kElements;
  const auto operand = [&]<class Panel>(const typename S::element* panels, int first_row, int col) {
    return kzoo::k_major<Panel>(panels + col / S::kPanelCols * Panel::kElements, first_row,
                                col % S::kPanelCols);
  };
  kzoo::wgmma_fence();
#pragma unroll
  for (int product = 0; product < F::kProducts; ++product) {
#pragma unroll
    for (int k = 0; k < S::kBK; k += 16) {
      const int a_col = F::a_part(product) * S::kBK + k, b_col = F::b_part(product) * S::kBK + k;
      kzoo::wgmma<S::kBN>(acc, operand.template operator()<typename S::a_panel>(stage, row, a_col),
                          operand.template operator()<typename S::b_panel>(b_stage, 0, b_col),
                          product > 0 || k > 0 || !first);
    }
  }
  kzoo::wgmma_commit();
}

// A warpgroup's 64 rows of a tile of C, summed along K. `interval`: k tiles from one promotion to
// the next.
template <class S, class Release>
__device__ __forceinline__ void consume(const typename S::element* stages,
                                        barriers<S::kStages>& sync, position<S::kStages>& at,
                                        int k_tiles, int interval, int warpgroup, Release release,
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
template <int BN, class Format>
__device__ __forceinline__ void start_loading(part_of_c<BN>& to, const parts<Format>& p, int row0,
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

// Shared memory: the stages, then what consumers have of C, then barriers.
template <class S>
inline constexpr std::size_t kSharedBytes = sizeof(typename S::element) * S::kStages* S::kStage +
                                            sizeof(part_of_c<S::kBN>) * S::kWarpgroups +
                                            sizeof(barriers<S::kStages>);

// alpha has an exponent near 0, C is not added to, and its pairs of columns are aligned.
inline bool with_plain_stores(const kzoo::gemm<float>& g) {
  const float alpha = std::abs(g.alpha);
  return g.beta == 0.0f && common::pairs_aligned(g) && alpha > 0x1p-30f && alpha < 0x1p30f;
}

// Flags that the splitting pass has set, and that a repeated launch has to find unset. The first
// `threads` of each block call this.
template <class Format>
__device__ __forceinline__ void clear_flags(const parts<Format>& p, int threads) {
  const int first = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  for (int i = first; i < p.ready_flags(); i += static_cast<int>(gridDim.x) * threads) {
    p.ready[i] = 0;
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    product_kernel(const __grid_constant__ operand_maps<S> maps, kzoo::gemm<float> g,
                   parts<typename S::Format> p, schedule<S> work, partial_sums<S> sums, how how) {
  auto* stages = kzoo::dynamic_shared<typename S::element>();
  auto* c_parts = reinterpret_cast<part_of_c<S::kBN>*>(stages + S::kStages * S::kStage);
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(c_parts + S::kWarpgroups);
  const int warpgroup = static_cast<int>(threadIdx.x) / kzoo::kWarpgroup;
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
    if (producer) produce(maps, work, g.n, stages, sync);
  } else {
    kzoo::request_registers<registers::kConsumer>();
    clear_flags(p, S::kWarpgroups * kzoo::kWarpgroup);
    part_of_c<S::kBN>& my_part = c_parts[warpgroup];
    position<S::kStages> at;
    const auto release = [&](int stage) {
      const unsigned block = threadIdx.x % kzoo::kWarpgroup;  // not kept in a register
      if (block < S::kCluster) sync.empty[stage].arrive_in(block);
    };
    const int turns = work.turns();
    for (int turn = 0; turn < turns; ++turn) {
      const assignment mine = work.at(turn);
      const int row = mine.row + warpgroup * 64;
      start_loading(my_part, p, row, mine.col);
      float sum[S::kAccumulators];

      consume<S>(stages, sync, at, mine.count(), how.interval, warpgroup, release, sum);
      if (mine.begin > 0) {
        sums.leave(sum, warpgroup);
        continue;
      }
      if (mine.end < work.k_tiles) sums.collect(work, mine.shared_tile, warpgroup, sum);
      finish<S>(g, how, row, mine.col, 1 + warpgroup, my_part, sum);
    }
  }
  kzoo::cluster_sync();  // the other block still reaches into this one's barriers
}

}  // namespace split_fp16
