#pragma once
// The GPU's timer, for device code.

namespace kzoo::devices::cuda {

__device__ inline long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace kzoo::devices::cuda
