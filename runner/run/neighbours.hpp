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

namespace kzoo::run {

class neighbour_watch {
 public:
  using worker = const void*;

  struct device {
    std::function<bool()> is_busy;      // with the work of another process than the next worker's
    std::function<void()> end_workers;  // of all but the next one
  };

  // Before each turn. The device is looked at in turns that are `drawn`; once it was busy, in all.
  // Returns after a while in which it has become idle, if it does. The worker to blame, if any.
  std::optional<worker> look(worker next, bool drawn, const device& on);
  void had_turn(worker w) { last_ = w; }

 private:
  void wait_until_idle(const device& on);
  std::optional<worker> to_blame() const;

  worker last_ = nullptr;
  bool was_idle_ = false;  // before the last turn
  bool is_alert_ = false, is_given_up_ = false;
  std::map<worker, int> seen_, idle_;  // after whose turns it was busy, and was not
};

}  // namespace kzoo::run
