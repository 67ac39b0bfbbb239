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
#include <set>

namespace kzoo::run {

class neighbour_watch {
 public:
  using worker = const void*;
  using kernel = const void*;

  struct device {
    std::function<bool()> is_busy;      // with the work of another process than the next worker's
    std::function<void()> end_workers;  // of all but the next one
  };

  // Not always the one that had the last turn: that others were idle is part of the evidence.
  struct guilt {
    worker process;
    std::set<kernel> kernels;  // of it, after whose turns the device was busy
  };

  // Before each turn. The device is looked at in turns that are `drawn`; once it was busy, in all.
  // Returns after a while in which it has become idle, if it does. Who is to blame, if anyone.
  std::optional<guilt> look(worker next, bool drawn, const device& on);
  void had_turn(worker w, kernel k) { last_ = w, last_kernel_ = k; }

 private:
  struct sightings {
    int count = 0;
    std::set<kernel> kernels;
  };

  void wait_until_idle(const device& on);
  std::optional<guilt> to_blame() const;

  worker last_ = nullptr;
  kernel last_kernel_ = nullptr;
  bool was_idle_ = false;  // before the last turn
  bool is_alert_ = false, is_given_up_ = false;
  std::map<worker, sightings> seen_;  // after whose turns it was busy
  std::map<worker, int> idle_;        // and was not
};

}  // namespace kzoo::run
