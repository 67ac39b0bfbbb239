#pragma once
// The samples of one cell as its turns bring them, and whether there are enough.

#include "timing/summary.hpp"

#include <limits>
#include <span>
#include <vector>

namespace kzoo::timing {

// When a cell has been timed enough.
struct stop_rule {
  int rounds = 1;                      // at least so many turns
  double max_relative_half_width = 1;  // and then more, until summary::noise is no larger than this
  double max_seconds = 0;              // but none after this, all turns together
};

class series {
 public:
  // A turn that took `seconds` in all, and the clock at each of its samples.
  void add(int round, std::span<const double> samples_ms, std::span<const double> sm_mhz,
           double seconds);

  bool empty() const { return samples_ms_.empty(); }
  bool out_of_time(const stop_rule& rule) const { return seconds_ >= rule.max_seconds; }
  // Enough rounds, and little enough noise.
  bool precise(const stop_rule& rule) const;
  // Not while empty.
  summary summarised(const stop_rule& rule) const;

 private:
  std::vector<double> samples_ms_, sm_mhz_;
  std::vector<int> rounds_;
  int turns_ = 0, next_look_ = 1;
  double relative_half_width_ = std::numeric_limits<double>::quiet_NaN();  // as of the last look
  double seconds_ = 0;
};

}  // namespace kzoo::timing
