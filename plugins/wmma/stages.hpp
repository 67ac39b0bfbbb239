#pragma once
// Tiles of A and B in shared memory: several stages, each a k tile (BK steps along K) of both.
//
//   shared memory   | stage 0 | stage 1 | stage 2 | ...     a stage:   A  BM rows of BK | padding
//                                                                      B  BK rows of BN | padding

#include <common/thread_map.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/plugin.hpp>

#include "fragments.hpp"

namespace tensor {

// A block computes BM x BN of C in steps of BK along K, each of its warps WM x WN of that.
template <int BM, int BN, int BK, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kWM = WM, kWN = WN;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsM = BM / WM, kWarpsN = BN / WN, kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kRows = WM / kFragment, kCols = WN / kFragment;  // fragments of a warp
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert(WM % kFragment == 0 && WN % kFragment == 0, "fragments must cover the warp's tile");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
};

// Rows are padded, which spreads those of a fragment over the banks: 8 rows of 16 bytes each, or 4
// of 32, fall into different ones.
template <class T, class S>
struct layout {
  static constexpr int kFragmentK = tensor_input<T>::kFragmentK;
  static constexpr int kSteps = S::kBK / kFragmentK;  // fragments along K in a stage
  static constexpr int kVector = 16 / sizeof(T);      // elements of a 16-byte copy
  static constexpr int kARow = S::kBK + kVector, kBRow = S::kBN + 8;
  static constexpr int kAElements = S::kBM * kARow;
  static constexpr int kStage = kAElements + S::kBK * kBRow;  // elements of a stage
  // The epilogue uses the same memory: 16 rows of C for each warp, floats.
  static constexpr int kCRow = S::kWN + 8;
  static constexpr int kCStrip = kFragment * kCRow;
  static constexpr int kStagesBytes = S::kStages * kStage * int(sizeof(T));
  static constexpr int kCBytes = S::kThreads / 32 * kCStrip * int(sizeof(float));
  static constexpr std::size_t kBytes = kStagesBytes > kCBytes ? kStagesBytes : kCBytes;
  static_assert(kSteps >= 2 && kSteps % 2 == 0, "two sets of fragments take turns");
  static_assert(kAElements * sizeof(T) % 32 == 0 && kStage * sizeof(T) % 32 == 0,
                "fragments start at multiples of 32 bytes");
};

// Loads one k tile after the other into stages, with zeros past the edges. A thread copies kWidth
// neighbouring elements at a time: 16 bytes, asynchronously, where rows are aligned to that; else
// single elements, through registers.
template <class T, class S, int kWidth>
class tile_loader {
  using L = layout<T, S>;
  using a_map = common::thread_map<S::kBM, S::kBK, S::kThreads, kWidth>;
  using b_map = common::thread_map<S::kBK, S::kBN, S::kThreads, kWidth>;
  static_assert(a_map::kColSteps == 1 && b_map::kColSteps == 1, "threads must cover whole rows");

 public:
  __device__ __forceinline__ tile_loader(const kzoo::gemm<T>& g, int row0, int col0)
      : g_(g),
        a_k_(a_map::col(threadIdx.x)),
        b_k_(b_map::row(threadIdx.x)),
        a_to_(a_map::row(threadIdx.x) * L::kARow + a_k_),
        b_to_(L::kAElements + b_k_ * L::kBRow + b_map::col(threadIdx.x)),
        rows_left_(g.m - row0 - a_map::row(threadIdx.x)),
        cols_left_(g.n - col0 - b_map::col(threadIdx.x)),
        k_left_(g.k),
        a_from_(&g.a_at(g.m - rows_left_, a_k_)),
        b_from_(&g.b_at(b_k_, g.n - cols_left_)) {}

  // Starts the copies of the next k tile.
  __device__ __forceinline__ void load(T* stage) {
#pragma unroll
    for (int i = 0; i < S::kBM; i += a_map::kDown) {
      copy(stage + a_to_ + i * L::kARow, a_from_ + i * g_.lda, i < rows_left_ && a_k_ < k_left_);
    }
#pragma unroll
    for (int i = 0; i < S::kBK; i += b_map::kDown) {
      copy(stage + b_to_ + i * L::kBRow, b_from_ + i * g_.ldb,
           b_k_ + i < k_left_ && cols_left_ > 0);
    }
    k_left_ -= S::kBK;
    a_from_ += S::kBK;
    b_from_ += S::kBK * g_.ldb;
  }

 private:
  static __device__ __forceinline__ void copy(T* to, const T* from, bool inside) {
    if constexpr (kWidth > 1) {
      kzoo::copy_async<kWidth * sizeof(T)>(to, from, inside);
    } else {
      *to = inside ? *from : T(0);
    }
  }

  const kzoo::gemm<T>& g_;
  int a_k_, b_k_;                       // this thread's first element, along K in a k tile
  int a_to_, b_to_;                     // where in a stage it goes
  int rows_left_, cols_left_, k_left_;  // from it to the end of A's rows, B's columns, and of K
  const T *a_from_, *b_from_;           // where it is in the next k tile
};

}  // namespace tensor
