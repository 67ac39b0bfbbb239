#include "ranks/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace kzoo::ranks {
namespace {

// A cell takes a while however small its problem is: on an H200 as long as this much arithmetic.
constexpr double kFlopsOfAnyCell = 1e12;

double length_of(const job& j, std::size_t count) {
  const std::size_t cells = j.baselines + (j.others + count - 1) / count;
  return static_cast<double>(cells) * (kFlopsOfAnyCell + j.flops);
}

// The fewest shares of at most this length, if so many devices suffice.
std::size_t count_for(const job& j, double most, std::size_t devices) {
  const std::size_t largest = j.baselines > 0 ? std::clamp<std::size_t>(j.others, 1, devices) : 1;
  std::size_t count = 1;
  while (count < largest && length_of(j, count) > most) ++count;
  return count;
}

// When the last device is idle, if an idle device takes the longest share left. `lengths`: the
// longest first.
double end_of(const std::vector<double>& lengths, std::size_t devices) {
  std::vector<double> ends(devices);  // a heap, the earliest first
  for (const double length : lengths) {
    std::ranges::pop_heap(ends, std::greater());
    ends.back() += length;
    std::ranges::push_heap(ends, std::greater());
  }
  return std::ranges::max(ends);
}

}  // namespace

std::vector<run::share> schedule(const std::vector<job>& jobs, std::size_t devices) {
  double most = 0;
  for (const job& j : jobs) most = std::max(most, length_of(j, 1));
  std::vector<std::pair<double, run::share>> best;
  double earliest = 0;
  // Tries ever shorter shares.
  constexpr int kTries = 24;
  for (int i = 0; i < kTries; ++i, most /= std::sqrt(std::sqrt(2.0))) {
    std::vector<std::pair<double, run::share>> shares;
    std::vector<double> lengths;
    for (const job& j : jobs) {
      const std::size_t count = count_for(j, most, devices);
      for (std::size_t at = 0; at < count; ++at)
        shares.emplace_back(length_of(j, count), run::share{j.problem, at, count});
    }
    std::ranges::stable_sort(shares, std::greater(), [](const auto& s) { return s.first; });
    for (const auto& s : shares) lengths.push_back(s.first);
    const double end = end_of(lengths, devices);
    constexpr double kWorthwhile = 0.98;
    if (i > 0 && end > kWorthwhile * earliest) continue;
    earliest = end;
    best = std::move(shares);
  }
  std::vector<run::share> all;
  for (const auto& s : best) all.push_back(s.second);
  return all;
}

}  // namespace kzoo::ranks
