#include "timing/bootstrap.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kzoo::timing {
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

}  // namespace kzoo::timing
