#pragma once
// Microbenchmarks: kernels that saturate one resource of a device and do nothing else. Peaks are
// measured with them.

#include "devices/devices.hpp"
#include "roofline/peaks.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kzoo::microbenchmarks {

struct run_time {
  double seconds = 0;
  double clock_mhz = 0;  // SM clock; 0: not known
};

struct microbenchmark {
  roofline::resource resource{};
  std::string kernel;         // what it runs, in words
  double amount = 0;          // operations or bytes of one repetition
  double sample_seconds = 0;  // long enough for the cost of a launch to be negligible
  std::function<run_time(std::int64_t repetitions)> run;
};

// All microbenchmarks of a device. What they share, such as its memory, lives as long as any of
// them. May throw devices::failure, as may run().
std::vector<microbenchmark> all(const results::device& d);
std::vector<microbenchmark> on_cpu();
std::vector<microbenchmark> on_cuda(
    const results::device& d);  // devices::absent in a build without CUDA

}  // namespace kzoo::microbenchmarks
