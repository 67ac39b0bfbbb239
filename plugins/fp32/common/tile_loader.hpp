#pragma once
// Brings a block's tiles of A and B from global to shared memory 16 bytes at a time, through
// registers, as float4 and bank_conflict_free do; for tiles of any size, and in two halves, so that
// something else can be done between them.

#include <fp32/common/tiling.hpp>
#include <fp32/common/vec4.hpp>

namespace common {

// Layout: of A's tile, see bank_layouts.hpp.
template <class Tile, class Layout, bool kAligned>
class tile_loader {
  // The threads load kARows rows of A's tile at once, a float4 each, and do so kACount times; for B
  // likewise.
  static constexpr int kARows = Tile::kThreads / (Tile::kBK / 4), kACount = Tile::kBM / kARows;
  static constexpr int kBRows = Tile::kThreads / (Tile::kBN / 4), kBCount = Tile::kBK / kBRows;
  static_assert(kARows * kACount == Tile::kBM && kBRows * kBCount == Tile::kBK,
                "threads must load whole rows");

 public:
  // For the block whose tile of C begins at (row0, col0).
  __device__ tile_loader(const kzoo::gemm<float>& g, int thread, int row0, int col0)
      : g_(g),
        a_row_(thread / (Tile::kBK / 4)),
        a_k_(thread % (Tile::kBK / 4) * 4),
        b_k_(thread / (Tile::kBN / 4)),
        b_col_(thread % (Tile::kBN / 4) * 4),
        row_(row0 + a_row_),
        col_(col0 + b_col_) {
    if constexpr (kAligned) {
      a_from_ = &g.a_at(row_, a_k_);
      b_from_ = &g.b_at(b_k_, col_);
    }
  }

  // Loads this thread's part of the tiles at `k0` along K into registers. Tiles are loaded in
  // order: the aligned kernel walks two pointers along K.
  __device__ void load_global(int k0) {
    if constexpr (kAligned) {
#pragma unroll
      for (int i = 0; i < kACount; ++i) a_[i] = load_vec4(a_from_ + i * kARows * g_.lda);
#pragma unroll
      for (int i = 0; i < kBCount; ++i) b_[i] = load_vec4(b_from_ + i * kBRows * g_.ldb);
      a_from_ += Tile::kBK;
      b_from_ += Tile::kBK * g_.ldb;
    } else {
#pragma unroll
      for (int i = 0; i < kACount; ++i) a_[i] = load_a<false>(g_, row_ + i * kARows, k0 + a_k_);
#pragma unroll
      for (int i = 0; i < kBCount; ++i) b_[i] = load_b<false>(g_, k0 + b_k_ + i * kBRows, col_);
    }
  }

  // Stores them to shared memory: A's tile transposed, element (row, k) at Layout::at(k, row).
  __device__ void store_shared(float* a_tile, float* b_tile) const {
#pragma unroll
    for (int i = 0; i < kACount; ++i) {
      const int row = a_row_ + i * kARows;
      a_tile[Layout::at(a_k_, row)] = a_[i].x;
      a_tile[Layout::at(a_k_ + 1, row)] = a_[i].y;
      a_tile[Layout::at(a_k_ + 2, row)] = a_[i].z;
      a_tile[Layout::at(a_k_ + 3, row)] = a_[i].w;
    }
#pragma unroll
    for (int i = 0; i < kBCount; ++i) {
      store_vec4(&b_tile[(b_k_ + i * kBRows) * Tile::kBN + b_col_], b_[i]);
    }
  }

 private:
  const kzoo::gemm<float>& g_;
  int a_row_, a_k_, b_k_, b_col_;  // this thread's first float4 of each tile
  int row_, col_;                  // the row of A and the column of B that these are from
  const float *a_from_ = nullptr, *b_from_ = nullptr;
  float4 a_[kACount], b_[kBCount];
};

}  // namespace common
