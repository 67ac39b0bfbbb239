#pragma once
// Divides problems among devices, so that all end at about the same time.

#include "run/execution.hpp"

#include <cstddef>
#include <vector>

namespace kzoo::ranks {

// A problem that waits for a device.
struct job {
  std::size_t problem = 0;
  double flops = 0;
  std::size_t baselines = 0;  // cells that each device runs, if it is divided; 0: it is not
  std::size_t others = 0;     // cells that are divided
};

// The shares of all jobs, the longest first. A job is divided only if the run ends earlier:
// dividing times the baseline anew on each device.
std::vector<run::share> schedule(const std::vector<job>& jobs, std::size_t devices);

}  // namespace kzoo::ranks
