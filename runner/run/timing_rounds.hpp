#pragma once
// Times the cells of one problem against each other.
//
// Each round gives every cell one turn, in a newly shuffled order. A disturbance then affects all
// kernels of a round alike. Ratios are taken within rounds (timing/bootstrap.hpp).

#include "run/cell_timer.hpp"
#include "timing/process_spread.hpp"

#include <functional>
#include <optional>
#include <span>

namespace kzoo::run {

// Called before each turn, with the number of the round; may throw interrupt::interrupted.
using turn_observer = std::function<void(int round, const results::cell&)>;

// The bounds of a problem's rounds.
struct round_limits {
  // A resumed run continues the numbers: it must not be paired with the interrupted run's rounds.
  int first_round = 0;
  std::optional<double> deadline{};  // no round begins later, by steady_seconds()
  timing::process_spread spread{};   // of times between processes, where it was measured
};

// With timing.drop_slower, a kernel that is slower beyond doubt takes no further turns.
void run_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                const round_limits& limits, const memory_need& needed, const turn_observer& watch);

}  // namespace kzoo::run
