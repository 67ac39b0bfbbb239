#include "timing/process_spread.hpp"

#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace kzoo::timing {
namespace {

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

bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between) {
  // Saves the interval's many resamples.
  if (a.median_ms <= (1 + margin) * fastest.median_ms) return false;
  const ratio r = widened(paired_ratio(a, fastest), a, fastest, between);
  return r.likely && r.likely->low > 1 + margin;
}

}  // namespace kzoo::timing
