// FMAs on registers, on all SMs at full occupancy.

#include "microbenchmarks/cuda/device_side.cuh"

#include <type_traits>

namespace kzoo::microbenchmarks::cuda {
namespace {

constexpr int kPairs = 8;   // independent pairs per thread
constexpr int kSteps = 16;  // per repetition, unrolled: the overhead of the loop is negligible

template <class T>
__device__ T random_value(const busy_arguments& a, std::uint32_t which) {
  return T(random_fraction(a, which));
}
template <>
__device__ std::uint32_t random_value(const busy_arguments& a, std::uint32_t which) {
  return random_bits(a, which);
}

// Each pair (x, y) rotates, nearly on a circle, so its numbers neither converge nor grow over any
// number of steps. Integers wrap, and no step loses a bit with any factors.
template <class T>
__global__ void __launch_bounds__(kBlockThreads) fma_kernel(busy_arguments a) {
  const stopwatch watch(a.clock);
  T x[kPairs], y[kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    x[i] = random_value<T>(a, 2 * i);
    y[i] = random_value<T>(a, 2 * i + 1);
  }
  const T turn = random_value<T>(a, 2 * kPairs);
  const T back = std::is_integral_v<T> ? random_value<T>(a, 2 * kPairs + 1) : -turn;
#pragma unroll 1
  for (int r = 0; r < a.repetitions; ++r) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) x[i] = turn * y[i] + x[i];
#pragma unroll
      for (int i = 0; i < kPairs; ++i) y[i] = back * x[i] + y[i];
    }
  }
  T sum{};
#pragma unroll
  for (int i = 0; i < kPairs; ++i) sum += x[i] + y[i];
  if (std::uint32_t(sum) == kNever) *a.sink = kNever;
  watch.stop();
}

template <class T>
busy_kernel with_fma(roofline::resource r, const char* name) {
  return {r, name, reinterpret_cast<const void*>(&fma_kernel<T>), kBlockThreads,
          2.0 * kBlockThreads * kSteps * 2 * kPairs};
}

}  // namespace

std::vector<busy_kernel> arithmetic_kernels() {
  return {with_fma<float>(roofline::resource::fp32, "FFMA"),
          with_fma<double>(roofline::resource::fp64, "DFMA"),
          with_fma<std::uint32_t>(roofline::resource::int32, "IMAD")};
}

}  // namespace kzoo::microbenchmarks::cuda
