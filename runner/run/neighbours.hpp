#pragma once
// Which worker keeps a GPU busy after its turn, though it is stopped: work that was enqueued goes
// on.
//
// All workers but one are stopped at any time. So if the device is idle before a turn and busy
// after it, the worker that had the turn is to blame, unless it is another program of the machine.
// That one would be seen after turns of several workers: who is blamed was seen alone, so often
// that chance hardly explains it.

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace kzoo::run {

class neighbour_watch {
 public:
  using worker = const void*;
  using kernel = const void*;

  struct device {
    std::function<bool()> is_busy;      // with the work of another process than the next worker's
    std::function<void()> end_workers;  // of all but the next one
  };

  // The turns of a round, in any order. Draws those after which the device is looked at: in each
  // round others, so that it has been looked at after a turn of each kernel once a cell has taken
  // its `rounds`.
  void begin_round(std::span<const kernel> turns, int rounds, std::mt19937_64& random);

  // The process that keeps the device busy. Not always the one that had the last turn: that others
  // were idle is part of the evidence.
  struct guilt {
    worker process;
    std::set<kernel> kernels;  // of it, after whose turns the device was busy
  };

  // Before each turn. The device is looked at after turns that were drawn; once it was busy, after
  // all. Returns after a while in which it has become idle, if it does. Who is to blame, if anyone.
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
  std::map<worker, sightings> seen_;  // after whose turns it was busy
  std::map<worker, int> idle_;        // and was not
};

}  // namespace kzoo::run
