#pragma once

#include "devices/cuda/clock.cuh"
#include "microbenchmarks/cuda/busy_kernel.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace kzoo::microbenchmarks::cuda {

using devices::cuda::nanoseconds;

inline constexpr int kBlockThreads = 256;

// A thread of the grid reads the SM's cycle counter and the GPU's timer at both ends.
class stopwatch {
 public:
  __device__ explicit stopwatch(elapsed* seen) : seen_(seen) {
    if (is_watching()) start_ = {clock64(), nanoseconds()};
  }
  __device__ void stop() const {
    if (is_watching()) *seen_ = {clock64() - start_.cycles, nanoseconds() - start_.nanoseconds};
  }

 private:
  __device__ static bool is_watching() { return blockIdx.x == 0 && threadIdx.x == 0; }
  elapsed* seen_;
  elapsed start_;
};

// 32 well-mixed bits (the finaliser of MurmurHash3), different for each thread and `which`.
__device__ inline std::uint32_t random_bits(const busy_arguments& a, std::uint32_t which) {
  std::uint32_t h = a.seed ^ (which * 0x9e3779b9u) ^ ((blockIdx.x * blockDim.x + threadIdx.x) << 8);
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// In [-1, 1).
__device__ inline float random_fraction(const busy_arguments& a, std::uint32_t which) {
  return float(int(random_bits(a, which))) * (1.0f / 2147483648.0f);
}

// 32 bits of a tensor core's operand: one number, or two packed.
struct tf32 {
  static __device__ std::uint32_t random(const busy_arguments& a, std::uint32_t which) {
    return __float_as_uint(random_fraction(a, which)) & 0xffffe000u;
  }
};
struct fp16 {
  static __device__ std::uint32_t random(const busy_arguments& a, std::uint32_t which) {
    const std::uint32_t low = __half_as_ushort(__float2half(random_fraction(a, 2 * which)));
    const std::uint32_t high = __half_as_ushort(__float2half(random_fraction(a, 2 * which + 1)));
    return high << 16 | low;
  }
};
struct bf16 {
  static __device__ std::uint32_t random(const busy_arguments& a, std::uint32_t which) {
    return (__float_as_uint(random_fraction(a, 2 * which)) & 0xffff0000u) |
           __float_as_uint(random_fraction(a, 2 * which + 1)) >> 16;
  }
};

}  // namespace kzoo::microbenchmarks::cuda
