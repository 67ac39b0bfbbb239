#pragma once
// Who is fastest on each problem of one run, beside a baseline.

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

// The problems on which the baseline, a selector, was timed; with it all that were timed by the
// same clock. Where several match, the first in the order of the run is the baseline.
std::vector<ranking> rank(const results::document& d, const std::string& baseline);

}  // namespace kzoo::compare
