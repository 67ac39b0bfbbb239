#pragma once
// Kernels of our own that keep one resource of a device busy and do nothing else: what ceilings are
// measured with.

#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kzoo::microbenchmarks {

struct run_time {
  double seconds = 0;
  double clock_mhz = 0;  // 0 where it is not known
};

struct microbenchmark {
  roofline::resource resource{};
  std::string kernel;         // in words
  double amount = 0;          // operations or bytes of one repetition
  double sample_seconds = 0;  // long enough for what lies around the kernel to be little beside it
  std::function<run_time(std::int64_t repetitions)> run;
};

// Those that the device has. What they share, memory for one, lives as long as any of them.
std::vector<microbenchmark> all(const results::device& d);
std::vector<microbenchmark> on_cpu();
std::vector<microbenchmark> on_cuda(
    const results::device& d);  // devices::absent in a build without CUDA

}  // namespace kzoo::microbenchmarks
