#pragma once
// Times the cells of one problem against each other.
//
// A round gives each of them one turn, in an order that is shuffled anew: it is prepared, warmed up
// and sampled a few times, and lets go of its memory, so that no two rounds have the addresses in
// common. What disturbs a round disturbs all who take part in it; ratios are taken within rounds
// (timing/bootstrap.hpp).

#include "checks/candidate.hpp"
#include "host/plugin_host.hpp"
#include "results/document.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kzoo::run {

// A cell that was found right and waits for its times.
struct timed_candidate {
  results::cell* cell;  // gets times, or another verdict
  host::plugin_host* host;
  std::unique_ptr<checks::candidate> candidate;
  timing::clock clock;
  double highest_mhz;                 // that the device may reach; 0: not known
  std::vector<std::uint64_t> judged;  // digests of results that were found right
  bool is_baseline = false;           // takes part as long as anybody does and it has time
};

// Called before each turn, with the number of the round; may throw interrupt::interrupted.
using turn_observer = std::function<void(int round, const results::cell&)>;

// Rounds count from `first_round`: cells that were timed before are compared with by rounds of
// their own alone.
void run_rounds(const problem& p, const results::timing_options& how,
                std::span<timed_candidate> timed_candidates, int first_round,
                const turn_observer& watch);

}  // namespace kzoo::run
