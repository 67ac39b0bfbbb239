#pragma once
// The scales of a k tile, which is as deep as a block of scales: a producer of their own copies
// them beside the tile's stage, a consumer multiplies the tile's products by them.

#include <hopper/common/stream_k_schedule.hpp>
#include <kzoo/block_scales.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>
#include <tensor_cores/common/producer_consumer.hpp>

namespace fp8_scaled {

inline constexpr int kBlock = 128;  // steps of K of a scale, and columns of B

// In shared memory. What lies along K is copied with its neighbours, for copies are of 16 bytes:
// the scale of k tile k is cols[...][k % 4].
template <class Tile>
struct alignas(16) stage_scales {
  static constexpr int kColBlocks = kzoo::ceil_div(Tile::kBN, kBlock);  // a tile begins in one, or
  float rows[Tile::kBM];                                                // in the middle of one
  float cols[kColBlocks][4];
};

// One thread, beside the producer of k tiles: the scales of each into its stage.
template <class G, class Tile>
__device__ __forceinline__ void produce_scales(const G& g, const persistent::schedule<Tile>& work,
                                               stage_scales<Tile>* stages,
                                               warp_specialized::barriers<Tile::kStages>& sync) {
  constexpr int kColBlocks = stage_scales<Tile>::kColBlocks;
  warp_specialized::pipeline_state<Tile::kStages> state;
  const int turns = work.turns();
  for (int turn = 0; turn < turns; ++turn) {
    const persistent::assignment c = work.at(turn);
    // Of the tile's rows in A, and its blocks of columns in B; up to three rows after the last one
    // are padding between rows of scales.
    const int row_vec4s = max(min(kzoo::ceil_div(g.m - c.row, 4), Tile::kBM / 4), 0);
    const int col_blocks = max(min(kzoo::ceil_div(g.n, kBlock) - c.col / kBlock, kColBlocks), 0);
    const unsigned row_bytes = sizeof(float4) * row_vec4s, col_bytes = sizeof(float4) * col_blocks;
    const float* const rows = g.scales_a.scales + c.row;
    const float* const cols = g.scales_b.scales + c.col / kBlock * g.scales_b.ld;
    for (int i = 0; i < c.count(); ++i, state.advance()) {
      const int k_tile = c.k_tile(i);
      stage_scales<Tile>& to = stages[state.stage];
      kzoo::mbarrier& full = sync.full[state.stage];
      sync.empty[state.stage].wait(state.parity ^ 1);
      full.arrive_and_expect(row_bytes + col_bytes);
      if (row_bytes > 0) kzoo::bulk_load(rows + k_tile * g.scales_a.ld, to.rows, row_bytes, full);
#pragma unroll
      for (int block = 0; block < kColBlocks; ++block) {
        if (block >= col_blocks) break;
        kzoo::bulk_load(cols + block * g.scales_b.ld + k_tile / 4 * 4, to.cols[block],
                        sizeof(float4), full);
      }
    }
  }
}

// What a thread multiplies its accumulators by: in each of its two rows, for every 64 columns.
template <class Tile>
class factors {
 public:
  // From `row` of the block's tile on, which begins in column `col` of C.
  __device__ __forceinline__ factors(const stage_scales<Tile>& from, int row, int col, int k_tile) {
    const float top = from.rows[row], bottom = from.rows[row + 8];
    // Where the width is a multiple of a block's, all tiles begin with one.
    const int in_block = Tile::kBN % kBlock == 0 ? 0 : col % kBlock;
#pragma unroll
    for (int i = 0; i < kGroups; ++i) {
      const float of_b = from.cols[(in_block + i * kGroup) / kBlock][k_tile % 4];
      top_[i] = top * of_b;
      bottom_[i] = bottom * of_b;
    }
  }

  // sum += acc, scaled: all of the tile's columns, or as many as acc has from column `kFirst` on.
  // (wgmma_tile.hpp says which accumulator is where.)
  template <int kFirst = 0, int kCount>
  __device__ __forceinline__ void add(const float (&acc)[kCount],
                                      float (&sum)[Tile::kAccumulators]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int group = (kFirst + i / 4 * 8) / kGroup;
      float& to = sum[kFirst / 2 + i];
      to = fmaf(i % 4 < 2 ? top_[group] : bottom_[group], acc[i], to);
    }
  }

 private:
  static constexpr int kGroup = 64, kGroups = Tile::kBN / kGroup;
  static_assert(kBlock % kGroup == 0 && Tile::kBN % kGroup == 0);
  float top_[kGroups], bottom_[kGroups];
};

}  // namespace fp8_scaled
