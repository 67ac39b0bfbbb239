#pragma once
// The scales of a k tile, which is as deep as a block of scales: the producer copies them beside
// the tile's stage, a consumer multiplies the tile's products by them.

#include <hopper/common/stream_k_schedule.hpp>
#include <kzoo/block_scales.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>

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

// The producer's part.
template <class G, class Tile>
struct scale_loads {
  const G& g;
  stage_scales<Tile>* stages;

  __device__ __forceinline__ unsigned bytes(const persistent::assignment& c) const {
    return row_bytes(c) + sizeof(float4) * col_blocks(c);
  }
  __device__ __forceinline__ void load(const persistent::assignment& c, int k_tile, int stage,
                                       kzoo::mbarrier& full) const {
    stage_scales<Tile>& to = stages[stage];
    const kzoo::matrix_scales &a = g.scales_a, &b = g.scales_b;
    if (const unsigned bytes = row_bytes(c); bytes > 0)
      kzoo::bulk_load(a.scales + k_tile * a.ld + c.row, to.rows, bytes, full);
#pragma unroll
    for (int i = 0; i < stage_scales<Tile>::kColBlocks; ++i) {
      if (i >= col_blocks(c)) break;
      kzoo::bulk_load(b.scales + (c.col / kBlock + i) * b.ld + k_tile / 4 * 4, to.cols[i],
                      sizeof(float4), full);
    }
  }

 private:
  // Rows of the tile that are in A; up to three after the last one are padding between rows of
  // scales.
  __device__ __forceinline__ unsigned row_bytes(const persistent::assignment& c) const {
    return sizeof(float4) * max(min(kzoo::ceil_div(g.m - c.row, 4), Tile::kBM / 4), 0);
  }
  __device__ __forceinline__ int col_blocks(const persistent::assignment& c) const {
    return max(min(kzoo::ceil_div(g.n, kBlock) - c.col / kBlock, stage_scales<Tile>::kColBlocks),
               0);
  }
};

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
