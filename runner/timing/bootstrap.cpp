#include "timing/bootstrap.hpp"

#include "timing/summary.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace kzoo::timing {
namespace {

constexpr int kResamples = 2000;
constexpr double kOutside = 0.025;  // on each side of the interval

// The standard fixes the engine's numbers, but not those of its distributions.
std::size_t index_below(std::size_t size, std::mt19937_64& random) {
  return static_cast<std::size_t>(((random() >> 32) * size) >> 32);
}

double median_of_resample(std::span<const double> samples, std::mt19937_64& random,
                          std::vector<double>& drawn) {
  drawn.resize(samples.size());
  for (double& x : drawn) x = samples[index_below(samples.size(), random)];
  return median(drawn);
}

}  // namespace

ratio ratio_of_medians(std::span<const double> a, std::span<const double> b) {
  std::vector<double> drawn(a.begin(), a.end());
  const double median_a = median(drawn);
  drawn.assign(b.begin(), b.end());
  ratio r{median_a / median(drawn), {}};
  const bool zeros = std::ranges::min(a) <= 0 || std::ranges::min(b) <= 0;
  if (zeros || std::min(a.size(), b.size()) < kFewestSamples) return r;

  std::mt19937_64 random(1);
  std::vector<double> ratios(kResamples);
  for (double& x : ratios) {
    const double numerator = median_of_resample(a, random, drawn);
    x = numerator / median_of_resample(b, random, drawn);
  }
  std::ranges::sort(ratios);
  r.likely = {quantile(ratios, kOutside), quantile(ratios, 1 - kOutside)};
  return r;
}

}  // namespace kzoo::timing
