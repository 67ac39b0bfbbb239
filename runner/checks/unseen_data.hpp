#pragma once
// Whether a kernel keeps results: it is timed now and then on data that it has not seen, where one
// that keeps results has nothing to gain.

#include "checks/candidate.hpp"
#include "timing/summary.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kzoo::checks {

class unseen_data {
 public:
  explicit unseen_data(std::uint64_t seed) : seed_(seed) {}

  // Gives the instance in slot 0 other contents, and times its first run on them. The first time
  // the result is judged, on contents that are the same for all candidates with the same seed.
  reference::judgement time(candidate& c, int round, bool hot);
  // Whether those runs took longer than the candidate's samples, which may have other reasons: a
  // worker that has just been woken, for example.
  bool is_slower_than(const timing::summary& samples) const;
  // Compares the two under the same conditions. Returns why the kernel is wrong, or "".
  std::string compare(candidate& c, double max_seconds) const;
  bool empty() const { return ms_.empty(); }

 private:
  std::uint64_t seed_;
  std::vector<double> ms_;  // of each time()
  std::vector<int> rounds_;
};

}  // namespace kzoo::checks
