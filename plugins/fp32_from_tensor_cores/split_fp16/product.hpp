#pragma once
// C from the parts: for each k tile several products instead of one, from the same two tiles.
// Producer, consumers, clusters and multicast are those of plugins/persistent. What is new is what
// happens to the sums: tensor cores truncate when they add, so what they have summed over some
// steps along K, an interval, is added to a second set of registers, which rounds (promotion).

#include <hopper/common/consumer.hpp>
#include <hopper/common/partial_sums.hpp>
#include <hopper/common/soft_barriers.hpp>
#include <hopper/common/stream_k_schedule.hpp>
#include <kzoo/cluster.hpp>
#include <kzoo/dependent_launch.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>
#include <kzoo/wgmma.hpp>

#include "epilogue.hpp"
#include "parts.hpp"

namespace split_fp16 {

using persistent::assignment;
using persistent::partial_sums;
using persistent::schedule;
using persistent::soft_barriers;
using warp_specialized::barriers;
using warp_specialized::pipeline_state;

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
    const auto b_rows = static_cast<int>(p.b_rows()), b_cols = static_cast<int>(p.b_cols());
    return {kzoo::make_tensor_map<typename S::a_panel>(p.a, static_cast<int>(p.m), all_chunks,
                                                       all_chunks),
            kzoo::make_tensor_map<typename S::b_half>(p.b, b_rows, b_cols, b_cols)};
  }
};

template <class S>
__device__ __forceinline__ void produce(const operand_maps<S>& maps,
                                        const parts<typename S::Format>& p, const schedule<S>& work,
                                        const soft_barriers<S>& soft, typename S::element* stages,
                                        barriers<S::kStages>& sync) {
  const int rank = work.m_rank(), turns = work.turns();
  pipeline_state<S::kStages> state;
  int done = 0;  // k tiles of whole tiles
  for (int turn = 0; turn < turns; ++turn) {
    const assignment c = work.at(turn);
    for (int i = 0; i < c.count(); ++i, state.advance()) {
      if (c.shared_tile < 0) soft.wait(done++, work.clusters);
      auto* a = stages + state.stage * S::kStage;
      auto* b = a + S::kPanels * S::a_panel::kElements + rank * S::b_half::kElements;
      kzoo::mbarrier& full = sync.full[state.stage];
      sync.empty[state.stage].wait(state.parity ^ 1);
      full.arrive_and_expect(S::kStage * sizeof(typename S::element));  // from both blocks
      const int k_tile = c.k_tile(i);
      const int a_col = k_tile * p.kRow, b_col = static_cast<int>(p.b_col(k_tile));
      // Past the last column there are zeros, or those of the next k tile: what they give is not
      // stored.
      const int b_row = static_cast<int>(p.b_row(k_tile)) + c.col + rank * S::b_half::kRows;
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        const int in_row = panel * S::kPanelCols;
        kzoo::tma_load(maps.a, a + panel * S::a_panel::kElements, c.row, a_col + in_row, full);
        kzoo::tma_load_multicast(maps.b, b + panel * S::b_panel::kElements, b_row, b_col + in_row,
                                 full, (1u << S::kCluster) - 1);
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
                                        barriers<S::kStages>& sync,
                                        pipeline_state<S::kStages>& state, int k_tiles,
                                        int interval, int warpgroup, Release release,
                                        float (&sum)[S::kAccumulators]) {
#pragma unroll
  for (float& x : sum) x = 0.0f;
  // One warpgroup begins with half an interval, so that it does not add when the other does.
  int end = warpgroup == 0 ? interval : (interval + 1) / 2;
  for (int k_tile = 0; k_tile < k_tiles; end += interval) {
    float acc[S::kAccumulators];
    int last = 0;
    for (const int begin = k_tile; k_tile < min(end, k_tiles); ++k_tile) {
      sync.full[state.stage].wait(state.parity);
      multiply_k_tile<S>(stages + state.stage * S::kStage, warpgroup * 64, k_tile == begin, acc);
      if (k_tile > begin) {
        kzoo::wgmma_wait<1>();
        release(last);
      }
      last = state.stage;
      state.advance();
    }
    kzoo::wgmma_wait<0>(acc);
    release(last);
#pragma unroll
    for (int i = 0; i < S::kAccumulators; ++i) sum[i] += acc[i];
  }
}

// Shared memory: the stages, then what consumers have of C, then barriers.
template <class S>
inline constexpr std::size_t kSharedBytes = sizeof(typename S::element) * S::kStages* S::kStage +
                                            sizeof(part_of_c<S::kBN>) * S::kWarpgroups +
                                            sizeof(barriers<S::kStages>);

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
                   parts<typename S::Format> p, schedule<S> work, partial_sums<S> sums,
                   soft_barriers<S> soft, how how) {
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
  kzoo::wait_for_previous();  // for the parts, and soft barriers that are cleared

  using registers = hopper::registers<S>;
  if (warpgroup == S::kWarpgroups) {
    kzoo::release_registers<registers::kProducer>();
    if (producer) produce(maps, p, work, soft, stages, sync);
  } else {
    kzoo::request_registers<registers::kConsumer>();
    clear_flags(p, S::kWarpgroups * kzoo::kWarpgroup);
    part_of_c<S::kBN>& my_part = c_parts[warpgroup];
    pipeline_state<S::kStages> state;
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

      consume<S>(stages, sync, state, mine.count(), how.interval, warpgroup, release, sum);
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
