#include "run/neighbours.hpp"

#include <utility>

namespace kzoo::run {

std::optional<neighbour_watch::worker> neighbour_watch::look(worker next, bool drawn,
                                                             const device& on) {
  constexpr int kEnough = 2;
  if (is_given_up_ || (!drawn && !is_alert_)) return std::nullopt;
  const bool was_idle = std::exchange(was_idle_, true);
  if (!on.is_busy()) return std::nullopt;
  // Of a worker's own work nothing is seen.
  const bool is_known = is_alert_ && was_idle && last_ != nullptr && last_ != next;
  is_alert_ = true;
  if (is_known && ++seen_[last_] == kEnough && seen_.size() == 1) {
    seen_.clear();
    return last_;
  }
  if (seen_.size() > 1)
    is_given_up_ = true;  // another program
  else
    wait_until_idle(on);
  return std::nullopt;
}

void neighbour_watch::wait_until_idle(const device& on) {
  constexpr int kLooks = 100;  // of some milliseconds each
  for (int i = 0; i < kLooks; ++i)
    if (!on.is_busy()) return;
  on.end_workers();
  is_given_up_ = on.is_busy();
}

}  // namespace kzoo::run
