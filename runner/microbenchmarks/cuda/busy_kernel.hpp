#pragma once
// The kernels that cuda.cpp launches. Plain types only, because nvcc compiles the kernels.

#include "roofline/roofline.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace kzoo::microbenchmarks::cuda {

// Advance of one SM's counters while the kernel ran.
struct elapsed {
  long long cycles, nanoseconds;
};

struct busy_arguments {
  int repetitions;
  std::uint32_t seed;
  elapsed* clock;
  // A thread writes kNever here if its result equals it, so that the compiler keeps the
  // computation. Such a write is harmless.
  std::uint32_t* sink;
  const uint4* from;  // from, to, vectors: only for memory_kernels()
  uint4* to;
  std::int64_t vectors;  // in each of `from` and `to`
};
inline constexpr std::uint32_t kNever = 0x7fc0feedu;

struct busy_kernel {
  roofline::resource resource;
  const char* name;
  const void* function;  // __global__ void(busy_arguments)
  int threads;           // per block
  double operations;     // per block and repetition
  int accesses = 0;      // to memory, per byte of a buffer and repetition: 1 reads, 2 copies
};

// FMAs on the CUDA cores.
std::vector<busy_kernel> arithmetic_kernels();
// mma.sync: compute capability 8.x and 12.x. It reaches two thirds of Hopper's peak.
std::vector<busy_kernel> mma_kernels();
// wgmma: compute capability 9.0.
std::vector<busy_kernel> wgmma_kernels();
std::vector<busy_kernel> memory_kernels();

}  // namespace kzoo::microbenchmarks::cuda
