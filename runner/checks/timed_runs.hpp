#pragma once
// Timed runs of a candidate that is prepared in slot 0; each result is judged.

#include "checks/candidate.hpp"
#include "results/document.hpp"
#include "timing/sm_clock.hpp"
#include "timing/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::checks {

struct judged_samples {
  reference::judgement judgement;          // the first wrong one, else the last
  std::vector<double> samples_ms, sm_mhz;  // without throttled samples
  results::conditions conditions;
  double warmup_seconds = 0;
  bool cold_cache = false;
  // With warm-up, by the worker's clock, and by this process's, which no plugin can reach.
  double worker_seconds = 0, runner_seconds = 0;
};

// Sets `request.least_mhz`.
judged_samples sample(candidate& c, worker::sample_request request,
                      timing::throttle_filter& filter);

struct judged_end_to_end {
  reference::judgement judgement;  // the first wrong one, else the last
  timing::end_to_end medians;
};

// Times runs with allocation and copies; starts none after `max_seconds`.
judged_end_to_end end_to_end(candidate& c, double max_seconds);

// Compares a worker's clock, which its plugin can reach, with this process's.
class worker_clock {
 public:
  // Adds samples that were taken anyway. In turns of short kernels, messages take most time.
  void add(const judged_samples& turn);
  // A quarter of the samples hardly affects the median.
  bool agrees() const { return samples_ > 0 && 4 * agreeing_ >= 3 * samples_; }
  // Compares both over so many samples of slot 0 that messages do not matter.
  reference::judgement compare(candidate& c, bool hot);

 private:
  std::size_t samples_ = 0, agreeing_ = 0;
};

// A kernel's speed and power on a device that has settled under its load.
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
