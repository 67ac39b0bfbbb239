#pragma once
// Collects the samples of one cell, turn by turn, and decides when there are enough.

#include "timing/summary.hpp"

#include <limits>
#include <span>
#include <vector>

namespace kzoo::timing {

// When a cell has been timed enough.
struct stop_rule {
  int rounds = 1;  // at least this many turns,
  // then more until summary::relative_half_width is at most this,
  double max_relative_half_width = 1;
  double max_seconds = 0;  // but no further turn after this time for all turns
};

class series {
 public:
  // Adds a turn: its samples, the SM clock during each in MHz (0: unknown), and its whole duration.
  void add(int round, std::span<const double> samples_ms, std::span<const double> sm_mhz,
           double seconds);

  bool empty() const { return samples_ms_.empty(); }
  bool out_of_time(const stop_rule& rule) const { return seconds_ >= rule.max_seconds; }
  // There are enough rounds, and the relative half-width is small enough.
  bool precise(const stop_rule& rule) const;
  // Must not be called while empty().
  summary summarised(const stop_rule& rule) const;
  // Without relative_half_width, regardless of the rule.
  summary so_far() const { return summarise_without_interval(samples_ms_, rounds_); }

 private:
  std::vector<double> samples_ms_, sm_mhz_;
  std::vector<int> rounds_;
  int turns_ = 0, next_bootstrap_ = 1;
  double relative_half_width_ = std::numeric_limits<double>::quiet_NaN();  // the latest
  double seconds_ = 0;
};

}  // namespace kzoo::timing
