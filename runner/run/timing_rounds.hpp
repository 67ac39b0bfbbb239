#pragma once
// Times the cells of one problem against each other.
//
// Each round gives each of them one turn, in a newly shuffled order, so that a disturbance affects
// all kernels of a round alike, and ratios are taken within rounds (timing/bootstrap.hpp).

#include "run/cell_timer.hpp"

#include <functional>
#include <span>

namespace kzoo::run {

// Called before each turn, with the number of the round; may throw interrupt::interrupted.
using turn_observer = std::function<void(int round, const results::cell&)>;

// Rounds are numbered from `first_round`, so that they are not paired with the rounds of cells that
// an interrupted run has timed.
void run_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                int first_round, const memory_need& needed, const turn_observer& watch);

}  // namespace kzoo::run
