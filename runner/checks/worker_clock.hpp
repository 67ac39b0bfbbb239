#pragma once
// Whether a worker's clock, which its plugin can reach, is as fast as this process's.

#include "checks/timed_runs.hpp"

#include <cstddef>

namespace kzoo::checks {

class worker_clock {
 public:
  // Of samples that were taken anyway. A turn of a short kernel tells nothing: most of it is
  // messages between the two processes.
  void add(const judged_samples& turn);
  // The median of all samples is hardly affected by a quarter of them.
  bool agrees() const { return samples_ > 0 && 4 * agreeing_ >= 3 * samples_; }
  // Compares the two over so many samples of slot 0 that messages between them do not matter.
  reference::judgement compare(candidate& c, bool hot);

 private:
  std::size_t samples_ = 0, agreeing_ = 0;
};

}  // namespace kzoo::checks
