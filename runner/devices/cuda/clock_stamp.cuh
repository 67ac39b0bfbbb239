#pragma once
// Reads the counters of an SM, for device code.

#include "devices/cuda/timer.cuh"
#include "timing/sm_clock.hpp"

namespace kzoo::devices::cuda {

// %smid may have gaps, so there is an entry for every id up to more than any GPU has.
inline constexpr unsigned kClockStamps = 1024;

// Of the SM that this thread runs on, to the entry of its id.
__device__ inline void stamp_clock(timing::clock_stamp* stamps) {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  if (id >= kClockStamps) return;
  const unsigned long long cycles = clock64(), now = nanoseconds();
  // Two blocks may run on one SM: a single store keeps both counters of a stamp from one block.
  *reinterpret_cast<ulonglong2*>(stamps + id) = make_ulonglong2(cycles, now);
}

}  // namespace kzoo::devices::cuda
