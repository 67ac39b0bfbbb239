#pragma once
// Blocks that have parts of one sum meet when all parts are in memory, and each adds up a share of
// the sum. They wait for each other: all of them must run at the same time.
//
// The workspace's contents are undefined when a run begins, so a counter has the number of the run
// in its upper bits, as in fast_fp32/common/arrivals.hpp. It counts blocks that come, then those
// that go; the last one resets it, so that a recorded launch can be repeated.

#include <hopper/common/run_numbers.hpp>
#include <kzoo/warpgroup.hpp>

#include <cstddef>
#include <cstdint>

namespace w4a16 {

struct rendezvous {
  static constexpr int kCountBits = 16;

  unsigned long long* counters;  // one for each sum
  unsigned long long run;        // of run_numbers

  static constexpr std::size_t bytes(std::int64_t sums) {
    return static_cast<std::size_t>((sums * 8 + 255) / 256 * 256);
  }

  // kThreads threads of each of `parts` blocks call this when they have written their part. Then
  // what the others have written can be read with __ldcg (L1 may have older bytes).
  template <int kThreads>
  __device__ __forceinline__ void meet(std::int64_t sum, unsigned parts, int barrier) const {
    __threadfence();  // this thread's part comes before the block's arrival
    kzoo::named_barrier<kThreads>(barrier);
    if (threadIdx.x == 0) {
      unsigned long long* const counter = counters + sum;
      const unsigned long long none = run << kCountBits;
      unsigned long long seen = atomicAdd(counter, 0ULL);
      while (seen >> kCountBits != none >> kCountBits) {
        const unsigned long long expected = seen;
        seen = atomicCAS(counter, expected, none);
        if (seen == expected) seen = none;
      }
      seen = atomicAdd(counter, 1ULL) + 1;
      while (seen - none < parts) {
        __nanosleep(40);
        seen = atomicAdd(counter, 0ULL);
      }
      if (atomicAdd(counter, 1ULL) - none == 2 * parts - 1) atomicExch(counter, 0ULL);
      __threadfence();
    }
    kzoo::named_barrier<kThreads>(barrier);
  }
};

}  // namespace w4a16
