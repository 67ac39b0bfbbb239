#pragma once
// Device code that reads the GPU's timer and an SM's counters.

#include "timing/sm_clock.hpp"

namespace kzoo::devices::cuda {

__device__ inline long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// An entry per %smid, which may have gaps; more than any GPU needs.
inline constexpr unsigned kClockStamps = 1024;

// Stores the counters of this thread's SM in its entry.
__device__ inline void stamp_clock(timing::clock_stamp* stamps) {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  if (id >= kClockStamps) return;
  const unsigned long long cycles = clock64(), now = nanoseconds();
  // Two blocks may run on one SM: a single store keeps both counters of a stamp from one block.
  *reinterpret_cast<ulonglong2*>(stamps + id) = make_ulonglong2(cycles, now);
}

}  // namespace kzoo::devices::cuda
