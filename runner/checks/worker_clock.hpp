#pragma once
// Compares a worker's clock, which its plugin can reach, with this process's.

#include "checks/timed_runs.hpp"

#include <cstddef>

namespace kzoo::checks {

class worker_clock {
 public:
  // Adds samples that were taken anyway. In turns of short kernels, messages take most time.
  void add(const judged_samples& turn);
  // A quarter of the samples hardly affects the median.
  bool agrees() const { return samples_ > 0 && 4 * agreeing_ >= 3 * samples_; }
  // Compares both over so many samples of slot 0 that messages do not matter.
  reference::judgement compare(candidate& c, bool hot);

 private:
  std::size_t samples_ = 0, agreeing_ = 0;
};

}  // namespace kzoo::checks
