#pragma once
// Blocks that compute parts of one sum, and the last of them to finish, which adds the parts up: in
// a fixed order, so that it does not matter which block that is. No block waits for another, and
// there is no second launch.
//
// The workspace's contents are undefined when a run begins, so a counter has the number of the run
// in its upper bits: another number there means that no block has arrived in this run. The last
// block resets it, so that a recorded launch can be repeated.

#include <hopper/common/run_numbers.hpp>
#include <kzoo/cuda.hpp>

#include <cstddef>
#include <cstdint>

namespace common {

// Counters, one for each sum.
struct arrivals {
  static constexpr int kCountBits = 16, kMostParts = (1 << kCountBits) - 1;

  unsigned long long* counters;
  unsigned long long run;  // of run_numbers

  // A multiple of what partial sums after them must be aligned to.
  static constexpr std::size_t bytes(std::int64_t sums) {
    return static_cast<std::size_t>((sums * 8 + 255) / 256 * 256);
  }

  // All threads of a block call this when they have written their part of a sum. True in the last
  // block of `parts`: what the others have written can then be read with __ldcg (L1 may have older
  // bytes).
  __device__ __forceinline__ bool is_last(std::int64_t sum, int parts) const {
    __shared__ bool last;
    __threadfence();  // this thread's part comes before the block's arrival
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) last = arrive(sum, parts);
    __syncthreads();
    __threadfence();
    return last;
  }

 private:
  // Counts the block. Whether it is the last one. Only until the counter is this run's do blocks
  // retry: where all of many came by compare-and-swap, each would wait for all before it.
  __device__ __forceinline__ bool arrive(std::int64_t sum, int parts) const {
    unsigned long long* const counter = counters + sum;
    const unsigned long long none = run << kCountBits;
    unsigned long long seen = atomicAdd(counter, 0ULL);
    while (seen >> kCountBits != none >> kCountBits) {
      const unsigned long long expected = seen;
      seen = atomicCAS(counter, expected, none);
      if (seen == expected) seen = none;
    }
    const bool last = static_cast<int>(atomicAdd(counter, 1ULL) - none) + 1 == parts;
    if (last) atomicExch(counter, 0ULL);
    return last;
  }
};

}  // namespace common
