// Multiply-adds in registers, on all multiprocessors, as many at a time as there are threads for.

#include "microbenchmarks/cuda/device_side.cuh"

#include <type_traits>

namespace kzoo::microbenchmarks::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPairs = 8;   // that do not wait for each other
constexpr int kSteps = 16;  // of a repetition: the loop around them costs nothing beside

template <class T>
__device__ T random_value(const busy_arguments& a, std::uint32_t which) {
  return T(random_fraction(a, which));
}
template <>
__device__ std::uint32_t random_value(const busy_arguments& a, std::uint32_t which) {
  return random_bits(a, which);
}

// Each pair goes round in a circle, or nearly so: neither number settles or grows, however long.
// Whole numbers may turn back by anything: no step loses a bit.
template <class T>
__global__ void __launch_bounds__(kThreads) multiply_add_kernel(busy_arguments a) {
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
busy_kernel multiply_add(roofline::resource r, const char* name) {
  return {r, name, reinterpret_cast<const void*>(&multiply_add_kernel<T>), kThreads,
          2.0 * kThreads * kSteps * 2 * kPairs};
}

}  // namespace

std::vector<busy_kernel> arithmetic_kernels() {
  return {multiply_add<float>(roofline::resource::fp32, "FFMA"),
          multiply_add<double>(roofline::resource::fp64, "DFMA"),
          multiply_add<std::uint32_t>(roofline::resource::int32, "IMAD")};
}

}  // namespace kzoo::microbenchmarks::cuda
