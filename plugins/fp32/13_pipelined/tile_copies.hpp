#pragma once
// The asynchronous copies (cp.async) that bring one k tile of A and B into a stage. They are
// numbered, so that the main loop can issue a few of them in each step.
//
// Edges of C are not tested: rows of A and columns of B past an edge are read from the last one
// inside, and what they contribute is never stored. Where K is no multiple of BK, the first k tile
// begins before K does and is filled up with zeros, so that all others are full.

#include <fp32/common/layout.hpp>
#include <fp32/common/thread_map.hpp>
#include <fp32/common/warp_tiling.hpp>
#include <kzoo/async_copy.hpp>

namespace pipelined {

// The thread's number in its block, whose S::kSlices slices have S::kThreads threads each.
template <class S>
__device__ int block_thread(const common::warp_thread_coords<S>& p) {
  return static_cast<int>(threadIdx.z) * S::kThreads + p.thread;
}

// A's tile is stored transposed, which cp.async can do for one float at a time only. Eight
// neighbouring threads read 32 bytes of a row, and a warp writes to 32 different banks.
template <class S>
class a_copies {
  using map = common::thread_map<S::kBM, S::kBK, S::kBlockThreads, 1, 8>;

 public:
  static constexpr int kCount = map::kCount;

  // From column k0 of A on, which may be negative. S::layout is linear: at() of a sum is the sum.
  __device__ __forceinline__ a_copies(const kzoo::gemm<float>& g,
                                      const common::warp_thread_coords<S>& p, int k0) {
    k_ = map::col(block_thread(p));
    const int row = map::row(block_thread(p));
    to_ = S::layout::at(k_, row);
#pragma unroll
    for (int i = 0; i < map::kRowSteps; ++i) {
      from_[i] = g.a + min(p.row0 + row + i * map::kDown, g.m - 1) * g.lda + (k0 + k_);
    }
  }

  __device__ __forceinline__ void copy(int i, float* a_tile, bool inside) const {
    const int row_step = i % map::kRowSteps, k = i / map::kRowSteps * map::kAcross;
    kzoo::copy_async<4>(a_tile + to_ + S::layout::at(k, row_step * map::kDown), from_[row_step] + k,
                        inside);
  }
  __device__ __forceinline__ int k_of(int i) const {
    return i / map::kRowSteps * map::kAcross + k_;
  }

  __device__ __forceinline__ void advance(bool on) {
#pragma unroll
    for (int i = 0; i < map::kRowSteps; ++i) from_[i] += on ? S::kBK : 0;
  }

 private:
  const float* from_[map::kRowSteps];
  int to_, k_;
};

// B keeps its order: 16 bytes at a time, where its rows are aligned to that.
template <class S, bool kAligned>
class b_copies {
  using map = common::thread_map<S::kBK, S::kBN, S::kBlockThreads, kAligned ? 4 : 1>;
  static constexpr int kStepCols = map::kAcross * map::kWidth;

 public:
  static constexpr int kCount = map::kCount;

  __device__ __forceinline__ b_copies(const kzoo::gemm<float>& g,
                                      const common::warp_thread_coords<S>& p, int k0) {
    k_ = map::row(block_thread(p));
    const int col = map::col(block_thread(p));
    to_ = k_ * S::kBN + col;
    row_step_ = map::kDown * g.ldb;
#pragma unroll
    for (int i = 0; i < map::kColSteps; ++i) {
      from_[i] = g.b + (k0 + k_) * g.ldb + min(p.col0 + col + i * kStepCols, g.n - map::kWidth);
    }
  }

  __device__ __forceinline__ void copy(int i, float* b_tile, bool inside) const {
    const int down = i / map::kColSteps, across = i % map::kColSteps;
    kzoo::copy_async<4 * map::kWidth>(
        b_tile + to_ + down * map::kDown * S::kBN + across * kStepCols,
        from_[across] + down * row_step_, inside);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / map::kColSteps * map::kDown + k_; }

  __device__ __forceinline__ void advance(bool on) {
#pragma unroll
    for (int i = 0; i < map::kColSteps; ++i) from_[i] += on ? map::kRowSteps * row_step_ : 0;
  }

 private:
  const float* from_[map::kColSteps];
  std::ptrdiff_t row_step_;
  int to_, k_;
};

// Both tiles, as one list of copies.
template <class S, bool kAligned>
class tile_copies {
  using a_type = a_copies<S>;
  using b_type = b_copies<S, kAligned>;

 public:
  static constexpr int kCount = a_type::kCount + b_type::kCount;

  __device__ __forceinline__ tile_copies(const kzoo::gemm<float>& g,
                                         const common::warp_thread_coords<S>& p, int k0)
      : a_(g, p, k0), b_(g, p, k0) {}

  // Copy i of kCount; where it is not inside, nothing is read and zeros are written.
  __device__ __forceinline__ void copy(int i, float* stage, bool inside) const {
    if (i < a_type::kCount) {
      a_.copy(i, stage, inside);
    } else {
      b_.copy(i - a_type::kCount, stage + S::layout::kSize, inside);
    }
  }

  // The copies of step k, when they are spread over all steps but the last.
  __device__ __forceinline__ void copy_in_step(int k, float* stage, bool inside) const {
    constexpr int kEven = (kCount + S::kSliceK - 2) / (S::kSliceK - 1);
    constexpr int kPerStep = kEven > 2 ? kEven : 2;
#pragma unroll
    for (int i = k * kPerStep; i < (k + 1) * kPerStep && i < kCount; ++i) copy(i, stage, inside);
  }

  // Where in the k tile copy i goes, along K.
  __device__ __forceinline__ int k_of(int i) const {
    return i < a_type::kCount ? a_.k_of(i) : b_.k_of(i - a_type::kCount);
  }

  // On to the next k tile, or not.
  __device__ __forceinline__ void advance(bool on) {
    a_.advance(on);
    b_.advance(on);
  }

 private:
  a_type a_;
  b_type b_;
};

}  // namespace pipelined
