#include "devices/cuda/clock.cuh"
#include "devices/cuda/kernels.hpp"
#include "devices/cuda/runtime.hpp"

#include <span>
#include <vector>

namespace kzoo::devices::cuda {
namespace {

using timing::clock_stamp;

constexpr unsigned kWarp = 32;
constexpr std::size_t kBytes = kClockStamps * sizeof(clock_stamp);

__global__ void stamp_kernel(clock_stamp* stamps) {
  if (threadIdx.x == 0) stamp_clock(stamps);
}

// The timer's step: the smallest of several.
__global__ void tick_kernel(unsigned long long* tick) {
  constexpr int kAdvances = 16;
  unsigned long long least = ~0ull, last = nanoseconds();
  for (int i = 0; i < kAdvances;) {
    const unsigned long long now = nanoseconds();
    if (now == last) continue;
    // The first step began before the loop.
    if (i++ > 0) least = min(least, now - last);
    last = now;
  }
  *tick = least;
}

}  // namespace

clock_probe::clock_probe() {
  static_assert(sizeof(clock_stamp) == sizeof(ulonglong2));
  check(cudaMalloc(&start_, 2 * kBytes), "cudaMalloc for the clocks");
  stop_ = start_ + kClockStamps;
  auto* tick = reinterpret_cast<unsigned long long*>(start_);
  tick_kernel<<<1, 1>>>(tick);
  check(cudaGetLastError(), "reading the timer");
  check(cudaMemcpy(&tick_, tick, sizeof tick_, cudaMemcpyDeviceToHost), "reading the timer");
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  sm_count_ =
      static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, device, "number of SMs"));
}

timing::clock_stamp* clock_probe::enqueue_start(cudaStream_t stream) {
  check(cudaMemsetAsync(start_, 0, 2 * kBytes, stream), "clearing the clocks");
  return start_;
}

void clock_probe::enqueue_stop(cudaStream_t stream) {
  // Nothing else runs on the device at that time, so each block gets an SM of its own.
  stamp_kernel<<<sm_count_, kWarp, 0, stream>>>(stop_);
  check(cudaGetLastError(), "reading the clocks");
}

double clock_probe::mhz() const {
  std::vector<clock_stamp> both(2 * kClockStamps);
  check(cudaMemcpy(both.data(), start_, 2 * kBytes, cudaMemcpyDeviceToHost), "reading the clocks");
  const std::span stamps(both);
  return timing::sm_clock_mhz(stamps.first(kClockStamps), stamps.last(kClockStamps), tick_);
}

}  // namespace kzoo::devices::cuda
