#pragma once
// Clusters that run at the same time read the same rows of A and columns of B, and find in the L2
// what one of them has read, as long as they are in the same place along K. Where K is longer than
// what the L2 holds, a cluster that falls behind reads from DRAM again, and falls further behind.
// So clusters synchronise loosely along K: there is a barrier every kInterval k tiles, and a
// cluster waits for the others kLag k tiles after its own arrival. Usually all have arrived by
// then.
//
// No result depends on it, and a cluster polls a barrier 5000 times at most, because clusters that
// do not run at the same time would wait for each other for ever.

#include <kzoo/cuda.hpp>

#include <cstddef>

#include <hopper/common/stream_k_schedule.hpp>

namespace persistent {

template <class Tile>
struct soft_barriers {
  static constexpr int kInterval = 32, kLag = 4;
  // In this many k tiles, of 128 bytes along K, the tiles that run together on 132 SMs need 60 MB
  // of A and B, which is the L2 of an H200.
  static constexpr int kInL2 = 120;

  unsigned* arrived;  // for each barrier, how many clusters have
  int count;          // of barriers

  // All clusters have `work.each` whole tiles; a few have one more, which has no barriers.
  static int count_of(const schedule<Tile>& work) {
    const bool worth = Tile::kManyTiles && work.k_tiles >= kInL2;
    return worth ? work.each * work.k_tiles / kInterval : 0;
  }
  static std::size_t bytes(const schedule<Tile>& work) {
    return static_cast<std::size_t>(count_of(work)) * sizeof(unsigned);
  }

  // A producer calls this before each k tile of its whole tiles; `done`: how many there were.
  __device__ __forceinline__ void wait(int done, int clusters) const {
    const int barrier = done / kInterval, since = done % kInterval;
    if (barrier >= count) return;
    if (since == 0 && blockIdx.x % Tile::kCluster == 0) atomicAdd(arrived + barrier, 1u);
    if (since != kLag) return;
    constexpr int kMostPolls = 5000;
    for (int poll = 0; poll < kMostPolls && !all_at(barrier, clusters); ++poll) __nanosleep(20);
  }

 private:
  __device__ __forceinline__ bool all_at(int barrier, int clusters) const {
    return *static_cast<volatile unsigned*>(arrived + barrier) >= static_cast<unsigned>(clusters);
  }
};

}  // namespace persistent
