#include "timing/summary.hpp"

#include "timing/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kzoo::timing {

double quantile(const std::vector<double>& sorted, double q) {
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], rank - std::floor(rank));
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  if (samples.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(samples.begin(), middle), *middle);
}

double median_mhz(const summary& s) {
  std::vector<double> known = s.sm_mhz.unpacked();
  std::erase_if(known, [](double mhz) { return mhz <= 0; });
  return known.empty() ? 0 : median(known);
}

std::vector<turn> turns(const summary& s) {
  std::vector<turn> all;
  std::vector<double> samples;
  const std::vector<int> rounds = s.rounds.unpacked();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    samples.push_back(s.samples_ms[i]);
    if (i + 1 < rounds.size() && rounds[i + 1] == rounds[i]) continue;
    all.push_back({rounds[i], median(samples)});
    samples.clear();
  }
  return all;
}

std::vector<double> turn_medians(const summary& s) {
  std::vector<double> medians;
  for (const turn& t : turns(s)) medians.push_back(t.median_ms);
  return medians;
}

summary summarise_without_interval(const std::vector<double>& samples_ms,
                                   const std::vector<int>& rounds) {
  std::vector<double> sorted = samples_ms;
  std::ranges::sort(sorted);
  summary s;
  s.samples_ms = samples_ms;
  s.rounds = rounds;
  s.median_ms = quantile(sorted, 0.5);
  s.min_ms = sorted.front();
  if (s.median_ms > 0) s.spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / s.median_ms;
  return s;
}

summary summarise(const std::vector<double>& samples_ms, const std::vector<int>& rounds) {
  summary s = summarise_without_interval(samples_ms, rounds);
  const auto likely = interval_of_median(turn_medians(s));
  s.relative_half_width = likely && s.median_ms > 0 ? (likely->high - likely->low) / 2 / s.median_ms
                                                    : std::numeric_limits<double>::quiet_NaN();
  return s;
}

end_to_end medians(const std::vector<end_to_end>& runs) {
  const auto median_of = [&](double end_to_end::*part) {
    std::vector<double> times;
    for (const end_to_end& run : runs) times.push_back(run.*part);
    return median(times);
  };
  return {median_of(&end_to_end::allocate_ms), median_of(&end_to_end::to_device_ms),
          median_of(&end_to_end::kernel_ms), median_of(&end_to_end::to_host_ms)};
}

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
