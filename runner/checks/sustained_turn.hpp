#pragma once
// A kernel's speed and power once the device has settled under it.

#include "checks/timed_runs.hpp"
#include "results/cell.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::checks {

struct sustained_turn {
  int round = 0;
  reference::judgement judgement;  // the first wrong one, else the last
  double ms = 0;                   // of one run, on average, once settled
  double settle_seconds = 0;
  bool settled = false;
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;
  std::string no_energy;
  results::conditions conditions;
};

// The candidate is prepared in slot 0. It runs without pauses, half a second at a time, until two
// of these in a row differ by less than 1 % in time and by less than 3 % in power; then for two
// seconds that count. After ten seconds it counts as it is. All are a fifth of that on a device
// whose power cannot be read.
sustained_turn take_sustained_turn(candidate& c, int round);

// Of at least one turn, in the order of their rounds.
results::sustained summarised(std::span<const sustained_turn> turns, timing::clock clock);

}  // namespace kzoo::checks
