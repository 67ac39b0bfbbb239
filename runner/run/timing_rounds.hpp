#pragma once
// Times the cells of one problem against each other.
//
// Each round gives every cell one turn, in a newly shuffled order. A disturbance then affects all
// kernels of a round alike. Ratios are taken within rounds (timing/summary.hpp).

#include "checks/timed_runs.hpp"
#include "results/document.hpp"
#include "results/experiment.hpp"
#include "run/device_memory.hpp"
#include "timing/summary.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::run {

// If a kernel fails after another ran in the same process, it gets a second chance in its own
// process: the other kernel may be the cause. `before`: plugin_client::ran_before(). A hang gets no
// second chance: timeouts are long.
inline bool gets_second_chance(const results::cell& c, const std::string& before) {
  return is_failure(c.verdict) && c.verdict != verdict::hung && !before.empty();
}

// The finding for a kernel that then passes. `passes`: e.g. "passes in a process of its own".
results::finding second_chance(std::string_view passes, const std::string& before,
                               const results::cell& failed);

// A cell that passed and is to be timed.
struct timed_cell {
  results::cell* cell;  // receives the times, or a verdict other than pass
  client::plugin_client* client;
  std::unique_ptr<checks::candidate> candidate;
  timing::clock clock;
  double highest_mhz;        // maximum clock of the device; 0: unknown
  std::uint64_t digest;      // of the result that was judged right
  bool is_baseline = false;  // timed as long as any other cell is, within its time limit
};

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

// Finds a stopped worker whose enqueued work keeps a GPU busy after its turn.
//
// All workers but one are stopped at any time. If the device is idle before a turn and busy after
// it, the worker of that turn or another program is to blame. Another program would be seen after
// turns of several workers. A worker is blamed if only its turns show it, too often for chance.
class neighbour_watch {
 public:
  using worker = const void*;
  using kernel = const void*;

  struct device {
    std::function<bool()> is_busy;      // with work of a process other than the next worker
    std::function<void()> end_workers;  // all but the next worker
  };

  // Starts a round; `turns` may be in any order. Draws the turns after which look() checks the
  // device. After `rounds` rounds each kernel has been drawn once.
  void begin_round(std::span<const kernel> turns, int rounds, std::mt19937_64& random);

  // The process that keeps the device busy. It need not have had the last turn.
  struct guilt {
    worker process;
    std::set<kernel> kernels;  // its kernels after whose turns the device was busy
  };

  // Called before each turn. Checks the device after drawn turns; once it was busy, after all
  // turns. Waits a while for an idle device. Returns the guilty worker, if there is one.
  std::optional<guilt> look(worker next, const device& on);
  void had_turn(worker w, kernel k);

 private:
  struct sightings {
    int count = 0;
    std::set<kernel> kernels;
  };

  void wait_until_idle(const device& on);
  std::optional<guilt> to_blame() const;

  std::vector<kernel> not_yet_drawn_;
  std::set<kernel> drawn_;  // for this round
  bool is_due_ = false;     // to be looked at, before another worker's turn
  worker last_ = nullptr;
  kernel last_kernel_ = nullptr;
  bool was_idle_ = false;  // before the last turn
  bool is_alert_ = false, is_given_up_ = false;
  std::map<worker, sightings> seen_;  // busy after this worker's turn
  std::map<worker, int> idle_;        // idle after this worker's turn
};

}  // namespace kzoo::run
