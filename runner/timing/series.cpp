#include "timing/series.hpp"

#include "timing/bootstrap.hpp"

#include <algorithm>

namespace kzoo::timing {

void series::add(int round, std::span<const double> samples_ms, std::span<const double> sm_mhz,
                 double seconds) {
  samples_ms_.insert(samples_ms_.end(), samples_ms.begin(), samples_ms.end());
  sm_mhz_.insert(sm_mhz_.end(), sm_mhz.begin(), sm_mhz.end());
  rounds_.resize(samples_ms_.size(), round);
  ++turns_;
  seconds_ += seconds;
  // A bootstrap costs more than a short kernel's turn, so most turns do without.
  if (turns_ < next_bootstrap_) return;
  relative_half_width_ = summarise(samples_ms_, rounds_).relative_half_width;
  next_bootstrap_ = turns_ + 1 + turns_ / 10;
}

bool series::precise(const stop_rule& rule) const {
  if (turns_ < rule.rounds) return false;
  // If fewer rounds are requested than an interval needs, they are enough.
  return rule.rounds < static_cast<int>(kFewestTurns) ||
         relative_half_width_ <= rule.max_relative_half_width;
}

summary series::summarised(const stop_rule& rule) const {
  summary s = summarise(samples_ms_, rounds_);
  s.stopped = precise(rule) ? stop::precise : stop::out_of_time;
  if (std::ranges::any_of(sm_mhz_, [](double mhz) { return mhz > 0; })) s.sm_mhz = sm_mhz_;
  return s;
}

}  // namespace kzoo::timing
