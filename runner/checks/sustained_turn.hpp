#pragma once
// A kernel's speed and power on a device that has settled under its load.

#include "checks/timed_runs.hpp"
#include "results/document.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::checks {

struct sustained_turn {
  int round = 0;
  reference::judgement judgement;  // the first wrong one, else the last
  double ms = 0;                   // mean of one run, once settled
  double settle_seconds = 0;
  bool settled = false;
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;
  std::string no_energy;
  results::conditions conditions;
};

// The candidate must be prepared in slot 0. Runs it without pauses in steps of 0.5 s, for at most
// 10 s, until two steps differ by less than 1 % in time and 3 % in power. The next 2 s count. All
// times are a fifth on a device whose power cannot be read.
sustained_turn take_sustained_turn(candidate& c, int round);

// Needs at least one turn, in the order of rounds.
results::sustained summarised(std::span<const sustained_turn> turns, timing::clock clock);

}  // namespace kzoo::checks
