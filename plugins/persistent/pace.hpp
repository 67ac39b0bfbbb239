#pragma once
// Clusters that run together read the same rows of A and columns of B, and find in the L2 what one
// of them has read, as long as they are in the same place along K. Where a tile's K is longer than
// what the L2 holds of them, a cluster that falls behind has to read from DRAM again, and falls
// further behind. So there are marks, kInterval k tiles apart, and none goes further than kLag k
// tiles past one before all have come to it; usually all have by then.
//
// No result depends on it, and a cluster waits for a fraction of a millisecond at most: where not
// all run together, none would ever come for the others.

#include <kzoo/launch.hpp>

#include <cstddef>

#include "schedule.hpp"

namespace persistent {

template <class S>
struct pace {
  static constexpr int kInterval = 32, kLag = 4;
  // What 132 SMs read in so many k tiles of 128 bytes is 60 MB, the L2 of an H200.
  static constexpr int kInL2 = 120;

  unsigned* arrived;  // for each mark, clusters that have come to it
  int marks;

  // All clusters have so many whole tiles; a few have one more, in which there are no marks.
  static int marks_of(const schedule<S>& work) {
    const bool worth = S::kManyTiles && work.k_tiles >= kInL2;
    return worth ? work.each * work.k_tiles / kInterval : 0;
  }
  static std::size_t bytes(const schedule<S>& work) {
    return static_cast<std::size_t>(marks_of(work)) * sizeof(unsigned);
  }

  // A producer calls this before each k tile of its whole tiles; `done`: how many there were.
  __device__ __forceinline__ void keep(int done, int clusters) const {
    const int mark = done / kInterval, since = done % kInterval;
    if (mark >= marks) return;
    if (since == 0 && blockIdx.x % S::kCluster == 0) atomicAdd(arrived + mark, 1u);
    if (since != kLag) return;
    constexpr int kMostLooks = 5000;
    for (int looks = 0; looks < kMostLooks && !all_at(mark, clusters); ++looks) __nanosleep(20);
  }

 private:
  __device__ __forceinline__ bool all_at(int mark, int clusters) const {
    return *static_cast<volatile unsigned*>(arrived + mark) >= static_cast<unsigned>(clusters);
  }
};

inline constexpr int kClearThreads = 256;
template <class S>
__global__ void __launch_bounds__(kClearThreads) clear_marks(pace<S> marks) {
  for (int i = static_cast<int>(threadIdx.x); i < marks.marks; i += kClearThreads) {
    marks.arrived[i] = 0;
  }
}

// Enqueues it before the launch that keeps the pace.
template <class S>
void launch_clear_marks(const pace<S>& marks, kzoo::stream_t stream) {
  kzoo::launch({.grid = dim3(1),
                .block = dim3(kClearThreads),
                .max_threads = kClearThreads,
                .stream = stream},
               clear_marks<S>, marks);
}

}  // namespace persistent
