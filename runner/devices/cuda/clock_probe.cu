#include "devices/cuda/check.hpp"
#include "devices/cuda/clock_probe.hpp"
#include "devices/cuda/timer.cuh"
#include "timing/sm_clock.hpp"

#include <span>
#include <vector>

namespace kzoo::devices::cuda {
namespace {

using timing::clock_stamp;

constexpr unsigned kWarp = 32;
// %smid may have gaps, so there is an entry for every id up to more than any GPU has.
constexpr unsigned kEntries = 1024;
constexpr std::size_t kBytes = kEntries * sizeof(clock_stamp);

__device__ unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void stamp_kernel(clock_stamp* stamps) {
  const unsigned id = sm_id();
  if (threadIdx.x != 0 || id >= kEntries) return;
  const unsigned long long cycles = clock64(), now = nanoseconds();
  // Two blocks may run on one SM: a single store keeps both counters of a stamp from one block.
  *reinterpret_cast<ulonglong2*>(stamps + id) = make_ulonglong2(cycles, now);
}

// The smallest step by which the timer advances, of several seen.
__global__ void tick_kernel(unsigned long long* tick) {
  constexpr int kAdvances = 16;
  unsigned long long least = ~0ull, last = nanoseconds();
  for (int i = 0; i < kAdvances;) {
    const unsigned long long now = nanoseconds();
    if (now == last) continue;
    // The first step began before the loop did.
    if (i++ > 0) least = min(least, now - last);
    last = now;
  }
  *tick = least;
}

}  // namespace

clock_probe::clock_probe() {
  static_assert(sizeof(clock_stamp) == sizeof(ulonglong2));
  check(cudaMalloc(&start_, 2 * kBytes), "cudaMalloc for the clocks");
  stop_ = start_ + kEntries;
  auto* tick = reinterpret_cast<unsigned long long*>(start_);
  tick_kernel<<<1, 1>>>(tick);
  check(cudaGetLastError(), "reading the timer");
  check(cudaMemcpy(&tick_, tick, sizeof tick_, cudaMemcpyDeviceToHost), "reading the timer");
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "number of SMs");
  sm_count_ = static_cast<unsigned>(count);
}

void clock_probe::enqueue_start(cudaStream_t stream) {
  check(cudaMemsetAsync(start_, 0, 2 * kBytes, stream), "clearing the clocks");
  enqueue(start_, stream);
}

void clock_probe::enqueue_stop(cudaStream_t stream) { enqueue(stop_, stream); }

void clock_probe::enqueue(clock_stamp* to, cudaStream_t stream) const {
  // Nothing else runs on the device at that time, so each block gets an SM of its own.
  stamp_kernel<<<sm_count_, kWarp, 0, stream>>>(to);
  check(cudaGetLastError(), "reading the clocks");
}

double clock_probe::mhz() const {
  std::vector<clock_stamp> both(2 * kEntries);
  check(cudaMemcpy(both.data(), start_, 2 * kBytes, cudaMemcpyDeviceToHost), "reading the clocks");
  const std::span stamps(both);
  return timing::sm_clock_mhz(stamps.first(kEntries), stamps.last(kEntries), tick_);
}

}  // namespace kzoo::devices::cuda
