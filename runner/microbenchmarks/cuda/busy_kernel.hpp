#pragma once
// The kernels behind cuda_loads.cpp. Plain types only: nvcc compiles the other side.

#include "roofline/peaks.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace kzoo::microbenchmarks::cuda {

// Of one multiprocessor, while the kernel ran.
struct elapsed {
  long long cycles, nanoseconds;
};

// Every kernel takes these alone.
struct busy_arguments {
  int repetitions;
  std::uint32_t seed;
  elapsed* clock;
  // Where a thread writes what it computed if that is kNever: so nothing can be left out. It may
  // happen to be, and then that is what one word holds.
  std::uint32_t* sink;
  const uint4* from;  // of memory alone
  uint4* to;
  std::int64_t vectors;  // in each of the two
};
inline constexpr std::uint32_t kNever = 0x7fc0feedu;

struct busy_kernel {
  roofline::resource resource;
  const char* name;
  const void* function;  // __global__ void(busy_arguments)
  int threads;           // of a block
  double operations;     // of a block, in one repetition
  int accesses = 0;      // of each byte in `from` and `to`, in one repetition
};

// A multiply-add of ordinary cores.
std::vector<busy_kernel> arithmetic_kernels();
// mma.sync: the tensor cores of compute capability 8.x and 12.x, and three fifths of Hopper's.
std::vector<busy_kernel> mma_kernels();
// wgmma: compute capability 9.0.
std::vector<busy_kernel> wgmma_kernels();
std::vector<busy_kernel> memory_kernels();

}  // namespace kzoo::microbenchmarks::cuda
