#include "run/neighbours.hpp"

#include <utility>

namespace kzoo::run {

std::optional<neighbour_watch::guilt> neighbour_watch::look(worker next, bool drawn,
                                                            const device& on) {
  if (is_given_up_ || (!drawn && !is_alert_)) return std::nullopt;
  const bool was_idle = std::exchange(was_idle_, true);
  const bool is_busy = on.is_busy();
  // Of a worker's own work nothing is seen.
  const bool is_known = is_alert_ && was_idle && last_ != nullptr && last_ != next;
  if (is_known && is_busy) {
    sightings& seen = seen_[last_];
    ++seen.count;
    seen.kernels.insert(last_kernel_);
  } else if (is_known) {
    ++idle_[last_];
  }
  if (is_busy) is_alert_ = true;
  const std::optional<guilt> guilty = to_blame();
  if (guilty) seen_.clear();
  if (guilty || !is_busy) return guilty;
  if (seen_.size() > 1)
    is_given_up_ = true;  // another program
  else
    wait_until_idle(on);
  return std::nullopt;
}

// Fisher's exact test: had another program kept the device busy, all sightings would be after the
// turns of one worker with this chance.
std::optional<neighbour_watch::guilt> neighbour_watch::to_blame() const {
  constexpr double kMostChance = 1e-5;
  if (seen_.size() != 1) return std::nullopt;
  const auto& [suspect, seen] = *seen_.begin();
  int own_looks = seen.count, looks = seen.count;
  for (const auto& [w, times] : idle_) {
    looks += times;
    if (w == suspect) own_looks += times;
  }
  double chance = 1;
  for (int i = 0; i < seen.count; ++i) chance *= double(own_looks - i) / (looks - i);
  if (chance >= kMostChance) return std::nullopt;
  return guilt{suspect, seen.kernels};
}

void neighbour_watch::wait_until_idle(const device& on) {
  constexpr int kLooks = 100;  // of some milliseconds each
  for (int i = 0; i < kLooks; ++i)
    if (!on.is_busy()) return;
  on.end_workers();
  is_given_up_ = on.is_busy();
}

}  // namespace kzoo::run
