#pragma once
#include "timing/summary.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace kzoo::test {

// Each sample in a round of its own.
inline timing::summary rounds_apart(std::vector<double> samples_ms) {
  std::vector<int> rounds(samples_ms.size());
  std::iota(rounds.begin(), rounds.end(), 0);
  return timing::summarise(std::move(samples_ms), std::move(rounds));
}

}  // namespace kzoo::test
