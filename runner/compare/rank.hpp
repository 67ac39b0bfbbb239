#pragma once
// Ranks the kernels on each problem of one run, with their speed relative to a baseline.

#include "results/document.hpp"
#include "timing/bootstrap.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::compare {

struct place {
  const results::cell* cell;
  timing::ratio speed;  // the baseline's time over this one's: above 1 is faster
  bool is_baseline = false;
};

struct ranking {
  std::size_t problem;        // index into experiment.problems
  std::vector<place> places;  // the fastest first
};

// One ranking for each problem on which `baseline`, a selector, was timed, of all cells timed by
// the same clock. If several cells match the selector, the first in the order of the run counts.
std::vector<ranking> rank(const results::document& d, const std::string& baseline);

}  // namespace kzoo::compare
