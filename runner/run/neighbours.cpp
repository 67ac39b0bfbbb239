#include "run/neighbours.hpp"

#include <algorithm>
#include <utility>

namespace kzoo::run {

void neighbour_watch::begin_round(std::span<const kernel> turns, int rounds,
                                  std::mt19937_64& random) {
  const std::size_t all = turns.size(), enough = static_cast<std::size_t>(rounds);
  drawn_.clear();
  while (drawn_.size() < (all + enough - 1) / enough) {
    if (not_yet_drawn_.empty()) {
      not_yet_drawn_.assign(turns.begin(), turns.end());
      std::ranges::shuffle(not_yet_drawn_, random);
    }
    const kernel next = not_yet_drawn_.back();
    not_yet_drawn_.pop_back();
    if (std::ranges::find(turns, next) != turns.end()) drawn_.insert(next);
  }
}

void neighbour_watch::had_turn(worker w, kernel k) {
  last_ = w;
  last_kernel_ = k;
  if (drawn_.contains(k)) is_due_ = true;
}

std::optional<neighbour_watch::guilt> neighbour_watch::look(worker next, const device& on) {
  // is_busy() does not see the next worker's own work.
  const bool is_wanted = is_alert_ || (is_due_ && last_ != next);
  if (is_given_up_ || !is_wanted) return std::nullopt;
  is_due_ = false;
  const bool was_idle = std::exchange(was_idle_, true);
  const bool is_busy = on.is_busy();
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

// Fisher's exact test: `chance` that another program is seen only after turns of one worker.
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
  constexpr int kLooks = 100;  // each takes some milliseconds
  for (int i = 0; i < kLooks; ++i)
    if (!on.is_busy()) return;
  on.end_workers();
  is_given_up_ = on.is_busy();
}

}  // namespace kzoo::run
