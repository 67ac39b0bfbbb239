#pragma once
// Clusters that run together read the same rows of A and columns of B, and find in the L2 what one
// of them has read, as long as they are in the same place along K. Where a tile's K is longer than
// what the L2 holds of them, a cluster that falls behind has to read from DRAM again, and falls
// further behind. So there are marks, kInterval k tiles apart, and none goes further than kLag k
// tiles past one before all have come to it; usually all have by then.
//
// No result depends on it, and a cluster looks at a mark 5000 times at most: where not all
// run together, none would ever come for the others.

#include <kzoo/cuda.hpp>

#include <cstddef>

#include <tensor_cores/common/stream_k_schedule.hpp>

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

}  // namespace persistent
