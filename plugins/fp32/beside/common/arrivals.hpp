#pragma once
// Blocks that compute parts of one sum, and the last of them to finish, which adds the parts up: in
// a fixed order, so that it does not matter which block that is. No block waits for another, and
// there is no second launch.
//
// The workspace's contents are undefined when a run begins, so a counter has the number of the run
// in its upper bits: another number there means that no block has arrived in this run. The last
// block resets it, so that a recorded launch can be repeated.

#include <kzoo/cuda.hpp>
#include <tensor_cores/common/run_numbers.hpp>

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
  // Counts the block. Whether it is the last one.
  __device__ __forceinline__ bool arrive(std::int64_t sum, int parts) const {
    const unsigned long long none = run << kCountBits;
    unsigned long long seen = none, expected = 0;
    do {
      expected = seen;
      const bool of_this_run = expected >> kCountBits == none >> kCountBits;
      const int before = of_this_run ? static_cast<int>(expected & kMostParts) : 0;
      if (before + 1 == parts) {
        atomicExch(counters + sum, 0ULL);
        return true;
      }
      seen = atomicCAS(counters + sum, expected, none + before + 1);
    } while (seen != expected);
    return false;
  }
};

}  // namespace common
