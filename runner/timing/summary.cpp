#include "timing/summary.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

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

namespace {

constexpr int kResamples = 2000;
constexpr double kTail = 0.025;  // probability that the true value lies beyond one end

// The share of the resamples of `count` values to leave out beyond each end of the interval.
double tail_of_resamples(std::size_t count) {
  const auto n = static_cast<double>(count);
  const double t = quantile(complement(boost::math::students_t(n - 1), kTail));
  return cdf(boost::math::normal(), -std::sqrt(n / (n - 1)) * t);
}

// The standard specifies the output of the engine, but not of std::uniform_int_distribution.
std::size_t index_below(std::size_t size, std::mt19937_64& random) {
  return static_cast<std::size_t>(((random() >> 32) * size) >> 32);
}

class resampler {
 public:
  double median(std::span<const double> values) {
    drawn_.resize(values.size());
    for (double& x : drawn_) x = values[index_below(values.size(), random_)];
    return timing::median(drawn_);
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<double> drawn_;
};

// The interval of `draw`, which resamples `count` values and returns their statistic.
template <class Draw>
interval percentiles(std::size_t count, const Draw& draw) {
  std::vector<double> drawn(kResamples);
  for (double& x : drawn) x = draw();
  std::ranges::sort(drawn);
  const double tail = tail_of_resamples(count);
  return {quantile(drawn, tail), quantile(drawn, 1 - tail)};
}

bool any_zero(std::span<const double> times) {
  return std::ranges::any_of(times, [](double ms) { return ms <= 0; });
}

// Twice the negative log-likelihood of one kernel's medians. Each difference between successive
// processes is normal around 0, so a slow drift of clocks hardly counts.
double unlikelihood(const std::vector<process_median>& medians, const process_spread& s) {
  double total = 0;
  for (std::size_t i = 1; i < medians.size(); ++i) {
    const process_median &x = medians[i - 1], &y = medians[i];
    const double mean = std::midpoint(x.ms, y.ms), between = deviation(s, mean);
    const double none = 1e-6 * mean;  // no clock resolves less
    const double variance = x.standard_error * x.standard_error +
                            y.standard_error * y.standard_error +
                            2 * (between * between + none * none);
    total += std::log(variance) + (x.ms - y.ms) * (x.ms - y.ms) / variance;
  }
  return total;
}

// 0, then values from `least` to `most` in equal logarithmic steps.
std::vector<double> logarithmic(double least, double most) {
  constexpr int kSteps = 100;
  std::vector<double> values{0};
  for (int i = 0; i <= kSteps; ++i)
    values.push_back(least * std::pow(most / least, i / double(kSteps)));
  return values;
}

}  // namespace

std::optional<interval> interval_of_median(std::span<const double> values) {
  if (values.size() < kFewestTurns) return {};
  resampler random;
  return percentiles(values.size(), [&] { return random.median(values); });
}

ratio paired_ratio(const summary& a, const summary& b) {
  std::vector<double> ratios;
  const std::vector<turn> of_a = turns(a), of_b = turns(b);
  for (auto x = of_a.begin(), y = of_b.begin(); x != of_a.end() && y != of_b.end();) {
    if (x->round == y->round) {
      if (y->median_ms > 0) ratios.push_back(x->median_ms / y->median_ms);
      ++x, ++y;
    } else {
      ++(x->round < y->round ? x : y);
    }
  }
  if (ratios.empty()) return ratio_of_medians(a, b);
  std::vector<double> values = ratios;
  return {median(values), any_zero(ratios) ? std::nullopt : interval_of_median(ratios)};
}

ratio ratio_of_medians(const summary& a, const summary& b) {
  const std::vector<double> of_a = turn_medians(a), of_b = turn_medians(b);
  ratio r{a.median_ms / b.median_ms, {}};
  const std::size_t fewest = std::min(of_a.size(), of_b.size());
  if (any_zero(of_a) || any_zero(of_b) || fewest < kFewestTurns) return r;
  resampler random;
  r.likely = percentiles(fewest, [&] {
    const double numerator = random.median(of_a);
    return numerator / random.median(of_b);
  });
  return r;
}

double deviation(const process_spread& s, double median_ms) {
  return std::hypot(s.ms, s.share * median_ms);
}

process_spread fit(const std::vector<std::vector<process_median>>& kernels) {
  std::vector<std::pair<process_spread, double>> tried;
  double least = std::numeric_limits<double>::infinity();
  for (const double ms : logarithmic(1e-6, 1)) {
    for (const double share : logarithmic(1e-5, 0.3)) {
      double total = 0;
      for (const auto& medians : kernels) total += unlikelihood(medians, {ms, share});
      tried.push_back({{ms, share}, total});
      least = std::min(least, total);
    }
  }
  // Successive differences hold two thirds of the information (von Neumann et al. 1941).
  constexpr double kKnown = 2.0 / 3;
  const double within = quantile(boost::math::chi_squared(1), 0.9) / kKnown;
  process_spread most;
  for (const auto& [s, total] : tried) {
    if (total - least > within) continue;
    most.ms = std::max(most.ms, s.ms);
    most.share = std::max(most.share, s.share);
  }
  return most;
}

ratio widened(const ratio& r, const summary& a, const summary& b, const process_spread& s) {
  if (!r.likely || a.median_ms <= 0 || b.median_ms <= 0 || r.likely->low <= 0) return r;
  constexpr double kDeviations = 2;  // 95 % of a normal distribution, known from a few dozen values
  const double between = kDeviations * std::hypot(deviation(s, a.median_ms) / a.median_ms,
                                                  deviation(s, b.median_ms) / b.median_ms);
  if (between == 0) return r;
  const double below = std::hypot(std::log(r.value / r.likely->low), between),
               above = std::hypot(std::log(r.likely->high / r.value), between);
  return {r.value, interval{r.value * std::exp(-below), r.value * std::exp(above)}};
}

ratio quotient(const ratio& a, const ratio& b) {
  ratio r{a.value / b.value, {}};
  if (!a.likely || !b.likely || a.likely->low <= 0 || b.likely->low <= 0) return r;
  const double below = std::hypot(std::log(a.value / a.likely->low),
                                  std::log(b.likely->high / b.value)),
               above = std::hypot(std::log(a.likely->high / a.value),
                                  std::log(b.value / b.likely->low));
  r.likely = interval{r.value * std::exp(-below), r.value * std::exp(above)};
  return r;
}

bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between) {
  // Saves the interval's many resamples.
  if (a.median_ms <= (1 + margin) * fastest.median_ms) return false;
  const ratio r = widened(paired_ratio(a, fastest), a, fastest, between);
  return r.likely && r.likely->low > 1 + margin;
}

}  // namespace kzoo::timing
