#pragma once
// Brings tiles of A and B from global to shared memory 16 bytes at a time, through registers. A's
// tile is stored transposed, as in plugins/float4.

#include <fp32/common/thread_coords.hpp>
#include <fp32/common/thread_map.hpp>
#include <fp32/common/vec4.hpp>

namespace common {

template <class S, bool kAligned>
class tile_loader {
  using a_map = thread_map<S::kBM, S::kBK, S::kThreads, 4>;
  using b_map = thread_map<S::kBK, S::kBN, S::kThreads, 4>;
  static_assert(a_map::kColSteps == 1 && b_map::kColSteps == 1, "threads must cover whole rows");

 public:
  template <class Coords>
  __device__ tile_loader(const kzoo::gemm<float>& g, const Coords& p)
      : g_(g),
        a_row_(a_map::row(p.thread)),
        a_k_(a_map::col(p.thread)),
        b_k_(b_map::row(p.thread)),
        b_col_(b_map::col(p.thread)),
        row_(p.row0 + a_row_),
        col_(p.col0 + b_col_) {
    if constexpr (kAligned) {
      a_from_ = &g.a_at(row_, a_k_);
      b_from_ = &g.b_at(b_k_, col_);
    }
  }

  // Loads this thread's part of the tiles at `k0` along K into registers. Tiles are loaded in
  // order: the aligned build walks two pointers along K.
  __device__ void load_global(int k0) {
    if constexpr (kAligned) {
#pragma unroll
      for (int i = 0; i < a_map::kCount; ++i)
        a_[i] = load_vec4(a_from_ + i * a_map::kDown * g_.lda);
#pragma unroll
      for (int i = 0; i < b_map::kCount; ++i)
        b_[i] = load_vec4(b_from_ + i * b_map::kDown * g_.ldb);
      a_from_ += S::kBK;
      b_from_ += S::kBK * g_.ldb;
    } else {
#pragma unroll
      for (int i = 0; i < a_map::kCount; ++i) {
        a_[i] = load_a<false>(g_, row_ + i * a_map::kDown, k0 + a_k_);
      }
#pragma unroll
      for (int i = 0; i < b_map::kCount; ++i) {
        b_[i] = load_b<false>(g_, k0 + b_k_ + i * b_map::kDown, col_);
      }
    }
  }

  // Stores them to shared memory. Layout::at says where element (row, k) of A's tile goes.
  template <class Layout>
  __device__ void store_shared(float* a_tile, float* b_tile) const {
#pragma unroll
    for (int i = 0; i < a_map::kCount; ++i) {
      const int row = a_row_ + i * a_map::kDown;
      a_tile[Layout::at(a_k_, row)] = a_[i].x;
      a_tile[Layout::at(a_k_ + 1, row)] = a_[i].y;
      a_tile[Layout::at(a_k_ + 2, row)] = a_[i].z;
      a_tile[Layout::at(a_k_ + 3, row)] = a_[i].w;
    }
#pragma unroll
    for (int i = 0; i < b_map::kCount; ++i) {
      store_vec4(&b_tile[(b_k_ + i * b_map::kDown) * S::kBN + b_col_], b_[i]);
    }
  }

 private:
  const kzoo::gemm<float>& g_;
  int a_row_, a_k_, b_k_, b_col_;  // this thread's first float4 of each tile
  int row_, col_;                  // and the row of A and the column of B that they are from
  const float *a_from_ = nullptr, *b_from_ = nullptr;
  float4 a_[a_map::kCount], b_[b_map::kCount];
};

}  // namespace common
