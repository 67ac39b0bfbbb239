#pragma once
// Times the cells of one problem against each other.
//
// Each round gives each of them one turn, in a newly shuffled order: the kernel is prepared, warmed
// up and sampled a few times, and its memory is freed, so that addresses differ between rounds. A
// disturbance affects all kernels of a round alike, so ratios are taken within rounds
// (timing/bootstrap.hpp).

#include "checks/candidate.hpp"
#include "client/plugin_client.hpp"
#include "results/document.hpp"
#include "run/plan.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kzoo::run {

// A cell that passed and is to be timed.
struct timed_candidate {
  results::cell* cell;  // receives the times, or a verdict other than pass
  client::plugin_client* client;
  std::unique_ptr<checks::candidate> candidate;
  timing::clock clock;
  double highest_mhz;                 // maximum clock of the device; 0: not known
  std::vector<std::uint64_t> judged;  // digests of results that were found right
  bool is_baseline = false;           // timed as long as any other cell is, within its time limit
};

// Called before each turn, with the number of the round; may throw interrupt::interrupted.
using turn_observer = std::function<void(int round, const results::cell&)>;

// Rounds are numbered from `first_round`, so that they are not paired with the rounds of cells that
// an interrupted run has timed.
void run_rounds(const problem& p, const results::timing_options& how,
                std::span<timed_candidate> timed_candidates, int first_round,
                const memory_need& needed, const turn_observer& watch);

}  // namespace kzoo::run
