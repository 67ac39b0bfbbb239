#pragma once
// Brings tiles of A and B from global to shared memory, in 16-byte pieces: fetch() takes the
// running thread's share of the next two tiles into registers, put() writes it to shared memory.

#include <common/quad.hpp>
#include <common/tiling.hpp>

namespace common {

template <class S, bool kWhole>
class tile_feed {
  // Threads count quads along the rows of each tile.
  static constexpr int kAQuadsPerRow = S::kBK / 4, kBQuadsPerRow = S::kBN / 4;
  static constexpr int kARows = S::kThreads / kAQuadsPerRow, kBRows = S::kThreads / kBQuadsPerRow;
  static_assert(S::kThreads % kAQuadsPerRow == 0 && S::kThreads % kBQuadsPerRow == 0,
                "all threads together must fetch whole rows");

 public:
  __device__ tile_feed(const kzoo::gemm<float>& g, const place<S>& p)
      : g_(g),
        a_row_(p.thread / kAQuadsPerRow),
        a_k_(p.thread % kAQuadsPerRow * 4),
        b_k_(p.thread / kBQuadsPerRow),
        b_col_(p.thread % kBQuadsPerRow * 4),
        row_(p.row0 + a_row_),
        col_(p.col0 + b_col_) {
    if constexpr (kWhole) {
      a_from_ = &g.a_at(row_, a_k_);
      b_from_ = &g.b_at(b_k_, col_);
    }
  }

  // The tiles that start at step k0 along K. Tiles are fetched in order, so that two running
  // pointers can do for the addresses of whole ones.
  __device__ void fetch(int k0) {
    if constexpr (kWhole) {
#pragma unroll
      for (int i = 0; i < S::kAQuads; ++i) a_[i] = load_quad(a_from_ + i * kARows * g_.lda);
#pragma unroll
      for (int i = 0; i < S::kBQuads; ++i) b_[i] = load_quad(b_from_ + i * kBRows * g_.ldb);
      a_from_ += S::kBK;
      b_from_ += S::kBK * g_.ldb;
    } else {
#pragma unroll
      for (int i = 0; i < S::kAQuads; ++i) a_[i] = a_quad<false>(g_, row_ + i * kARows, k0 + a_k_);
#pragma unroll
      for (int i = 0; i < S::kBQuads; ++i) {
        b_[i] = b_quad<false>(g_, k0 + b_k_ + i * kBRows, col_);
      }
    }
  }

  // A is transposed on the way, so that the rows of one step along K are neighbours: kLayout::at
  // says where element (row, k) of its tile goes. B keeps its order.
  template <class kLayout>
  __device__ void put(float* a_tile, float* b_tile) const {
#pragma unroll
    for (int i = 0; i < S::kAQuads; ++i) {
      const int row = a_row_ + i * kARows;
      a_tile[kLayout::at(a_k_, row)] = a_[i].x;
      a_tile[kLayout::at(a_k_ + 1, row)] = a_[i].y;
      a_tile[kLayout::at(a_k_ + 2, row)] = a_[i].z;
      a_tile[kLayout::at(a_k_ + 3, row)] = a_[i].w;
    }
#pragma unroll
    for (int i = 0; i < S::kBQuads; ++i) {
      store_quad(&b_tile[(b_k_ + i * kBRows) * S::kBN + b_col_], b_[i]);
    }
  }

 private:
  const kzoo::gemm<float>& g_;
  int a_row_, a_k_, b_k_, b_col_;  // this thread's first quads in the tiles
  int row_, col_;                  // and the row of A and the column of B that they are from
  const float *a_from_ = nullptr, *b_from_ = nullptr;
  float4 a_[S::kAQuads], b_[S::kBQuads];
};

}  // namespace common
