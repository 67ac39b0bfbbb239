#pragma once
// A kernel that runs again and again, without pauses, until clock and power have settled.

#include "timing/summary.hpp"

#include <optional>
#include <string>

namespace kzoo::results {

struct sustained {
  timing::summary time;       // a sample for each turn: the mean of its runs, once settled
  double settle_seconds = 0;  // until then, in the longest turn
  bool settled = true;        // in each turn; else the time limit came first
  // The mean power of the device while the samples were taken, by its energy counter; and by the
  // power that the driver reports, which it averages itself. Absent where the driver has none.
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;  // how often the counter was updated
  std::string no_energy;       // why there are no watts

  // Joules for one product.
  std::optional<double> joules() const {
    return watts ? std::optional(*watts * time.median_ms / 1000) : std::nullopt;
  }
};

}  // namespace kzoo::results
