#pragma once
// The asynchronous copies that bring the tiles of a step along K to shared memory, numbered, so
// that the kernel can spread them over its multiply-adds.
//
// Edges are not tested on the way: rows and columns past one are read from the last one inside, and
// the sums they give are not stored; and where K is no multiple of BK, the first tiles begin before
// K does, with zeros, so that all others are full.

#include <common/layout.hpp>
#include <common/warp_tiling.hpp>
#include <kzoo/async_copy.hpp>

namespace pipelined {

// The running thread among all of the block's, of which S::kThreads are one slice.
template <class S>
__device__ int block_thread(const common::warp_place<S>& p) {
  return static_cast<int>(threadIdx.z) * S::kThreads + p.thread;
}

// A's tile goes one float at a time, because it is transposed on the way. Eight neighbouring
// threads read 32 bytes of a row, and a warp writes to 32 different banks.
template <class S>
class a_copies {
  static constexpr int kAcross = 8, kDown = S::kBlockThreads / kAcross;
  static constexpr int kRowSteps = S::kBM / kDown;
  static_assert(S::kBM % kDown == 0 && S::kBK % kAcross == 0, "threads must cover the tile");

 public:
  static constexpr int kCount = kRowSteps * (S::kBK / kAcross);

  // From column k0 of A on, which may be negative. S::layout is linear: at() of a sum is the sum.
  __device__ __forceinline__ a_copies(const kzoo::gemm<float>& g, const common::warp_place<S>& p,
                                      int k0) {
    k_ = block_thread(p) % kAcross;
    const int row = block_thread(p) / kAcross;
    to_ = S::layout::at(k_, row);
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
      from_[i] = g.a + min(p.row0 + row + i * kDown, g.m - 1) * g.lda + (k0 + k_);
    }
  }

  __device__ __forceinline__ void copy(int i, float* tile, bool inside) const {
    const int k = i / kRowSteps * kAcross, row = i % kRowSteps * kDown;
    kzoo::copy_async<4>(tile + to_ + S::layout::at(k, row), from_[i % kRowSteps] + k, inside);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kRowSteps * kAcross + k_; }

  __device__ __forceinline__ void advance(bool on) {
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) from_[i] += on ? S::kBK : 0;
  }

 private:
  const float* from_[kRowSteps];
  int to_, k_;
};

// B's tile keeps its order: four neighbours at a time, where rows allow it.
template <class S, bool kWhole>
class b_copies {
  static constexpr int kWidth = kWhole ? 4 : 1;
  static constexpr int kPerRow = S::kBN / kWidth;
  static constexpr int kAcross = kPerRow < S::kBlockThreads ? kPerRow : S::kBlockThreads;
  static constexpr int kColSteps = kPerRow / kAcross, kDown = S::kBlockThreads / kAcross;
  static constexpr int kRowSteps = S::kBK / kDown;
  static_assert(kPerRow % kAcross == 0 && S::kBlockThreads % kAcross == 0 && S::kBK % kDown == 0,
                "threads must cover the tile");

 public:
  static constexpr int kCount = kRowSteps * kColSteps;

  __device__ __forceinline__ b_copies(const kzoo::gemm<float>& g, const common::warp_place<S>& p,
                                      int k0) {
    k_ = block_thread(p) / kAcross;
    const int col = block_thread(p) % kAcross * kWidth;
    to_ = k_ * S::kBN + col;
    row_step_ = kDown * g.ldb;
#pragma unroll
    for (int i = 0; i < kColSteps; ++i) {
      from_[i] = g.b + (k0 + k_) * g.ldb + min(p.col0 + col + i * kAcross * kWidth, g.n - kWidth);
    }
  }

  __device__ __forceinline__ void copy(int i, float* tile, bool inside) const {
    const int down = i / kColSteps, across = i % kColSteps;
    kzoo::copy_async<4 * kWidth>(tile + to_ + down * kDown * S::kBN + across * kAcross * kWidth,
                                 from_[across] + down * row_step_, inside);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kColSteps * kDown + k_; }

  __device__ __forceinline__ void advance(bool on) {
#pragma unroll
    for (int i = 0; i < kColSteps; ++i) from_[i] += on ? kRowSteps * row_step_ : 0;
  }

 private:
  const float* from_[kColSteps];
  std::ptrdiff_t row_step_;
  int to_, k_;
};

// Both tiles, as one list of copies.
template <class S, bool kWhole>
class tile_copies {
  using a_type = a_copies<S>;
  using b_type = b_copies<S, kWhole>;

 public:
  static constexpr int kCount = a_type::kCount + b_type::kCount;

  __device__ __forceinline__ tile_copies(const kzoo::gemm<float>& g, const common::warp_place<S>& p,
                                         int k0)
      : a_(g, p, k0), b_(g, p, k0) {}

  // Copy i of kCount; zeros, and nothing is read, where it is not inside.
  __device__ __forceinline__ void copy(int i, float* stage, bool inside) const {
    if (i < a_type::kCount) {
      a_.copy(i, stage, inside);
    } else {
      b_.copy(i - a_type::kCount, stage + S::layout::kSize, inside);
    }
  }
  // Where in the tile, along K, copy i goes.
  __device__ __forceinline__ int k_of(int i) const {
    return i < a_type::kCount ? a_.k_of(i) : b_.k_of(i - a_type::kCount);
  }

  // On to the next step, or not.
  __device__ __forceinline__ void advance(bool on) {
    a_.advance(on);
    b_.advance(on);
  }

 private:
  a_type a_;
  b_type b_;
};

}  // namespace pipelined
