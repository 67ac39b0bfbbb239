#include "devices/cuda/check.hpp"
#include "devices/cuda/clock_probe.hpp"
#include "timing/sm_clock.hpp"

#include <span>
#include <vector>

namespace kzoo::devices::cuda {
namespace {

using timing::clock_stamp;

constexpr unsigned kWarp = 32;
// The numbers of multiprocessors need not be without gaps: places enough for any GPU there is.
constexpr unsigned kPlaces = 1024;
constexpr std::size_t kBytes = kPlaces * sizeof(clock_stamp);

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void stamp_kernel(clock_stamp* stamps) {
  const unsigned id = multiprocessor();
  if (threadIdx.x != 0 || id >= kPlaces) return;
  const unsigned long long cycles = clock64(), now = nanoseconds();
  // Two blocks may meet on one multiprocessor: one store, so that a stamp is of either.
  *reinterpret_cast<ulonglong2*>(stamps + id) = make_ulonglong2(cycles, now);
}

// The smallest of some advances of the timer.
__global__ void tick_kernel(unsigned long long* tick) {
  constexpr int kAdvances = 16;
  unsigned long long least = ~0ull, last = nanoseconds();
  for (int i = 0; i < kAdvances;) {
    const unsigned long long now = nanoseconds();
    if (now == last) continue;
    // The first may have begun before it was looked at.
    if (i++ > 0) least = min(least, now - last);
    last = now;
  }
  *tick = least;
}

}  // namespace

clock_probe::clock_probe() {
  static_assert(sizeof(clock_stamp) == sizeof(ulonglong2));
  check(cudaMalloc(&start_, 2 * kBytes), "cudaMalloc for the clocks");
  stop_ = start_ + kPlaces;
  auto* tick = reinterpret_cast<unsigned long long*>(start_);
  tick_kernel<<<1, 1>>>(tick);
  check(cudaGetLastError(), "reading the timer");
  check(cudaMemcpy(&tick_, tick, sizeof tick_, cudaMemcpyDeviceToHost), "reading the timer");
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  multiprocessors_ = static_cast<unsigned>(count);
}

void clock_probe::enqueue_start(cudaStream_t stream) {
  check(cudaMemsetAsync(start_, 0, 2 * kBytes, stream), "clearing the clocks");
  enqueue(start_, stream);
}

void clock_probe::enqueue_stop(cudaStream_t stream) { enqueue(stop_, stream); }

void clock_probe::enqueue(clock_stamp* to, cudaStream_t stream) const {
  // Nothing else runs on the device then, so that each block has a multiprocessor of its own.
  stamp_kernel<<<multiprocessors_, kWarp, 0, stream>>>(to);
  check(cudaGetLastError(), "reading the clocks");
}

double clock_probe::mhz() const {
  std::vector<clock_stamp> both(2 * kPlaces);
  check(cudaMemcpy(both.data(), start_, 2 * kBytes, cudaMemcpyDeviceToHost), "reading the clocks");
  const std::span stamps(both);
  return timing::sm_clock_mhz(stamps.first(kPlaces), stamps.last(kPlaces), tick_);
}

}  // namespace kzoo::devices::cuda
