#pragma once
// Kernels that saturate one resource of a device, to measure its peak.

#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kzoo::microbenchmarks {

struct run_time {
  double seconds = 0;
  double clock_mhz = 0;  // SM clock; 0: unknown
};

struct microbenchmark {
  roofline::resource resource{};
  std::string kernel;         // what it runs, in words
  double amount = 0;          // operations or bytes of one repetition
  double sample_seconds = 0;  // long enough to make launch costs negligible
  std::function<run_time(std::int64_t repetitions)> run;
};

// All microbenchmarks of a device. Shared resources, such as memory, live as long as any of them.
// all() and run() may throw devices::failure.
std::vector<microbenchmark> all(const results::device& d);
std::vector<microbenchmark> on_cpu();
std::vector<microbenchmark> on_cuda(
    const results::device& d);  // devices::absent in a build without CUDA

}  // namespace kzoo::microbenchmarks
