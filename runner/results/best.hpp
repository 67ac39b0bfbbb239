#pragma once
// Which kernel is the fastest, problem by problem, and how well that is known.

#include "results/document.hpp"

#include <cstddef>
#include <vector>

namespace kzoo::results {

struct ranking {
  std::size_t problem = 0;
  // All that were timed but the baseline and simulations: first those that were measured to the
  // end, then those that were stopped for being slower; each by its time.
  std::vector<const cell*> ranked;
  // Of those after the first: as fast as it, as far as the intervals tell.
  std::vector<const cell*> ties;
  // Not decided when the time of the run was over: neither measured to the end nor slower beyond
  // doubt. Of a problem without any round, the kernels that wait for one.
  std::vector<const cell*> open;

  const cell* best() const { return ranked.empty() ? nullptr : ranked.front(); }
};

std::vector<ranking> rank(const document& d);

// What it took.
struct tuning_cost {
  std::size_t points = 0, from_cache = 0, not_compiled = 0, left_out = 0;
  double compile_seconds = 0;
  std::size_t judged = 0, timed = 0, stopped = 0;  // cells; stopped: as slower ones
  double judge_seconds = 0, time_seconds = 0;
};
tuning_cost cost_of(const document& d);

// 0: each problem has a best kernel, and no kernel failed but those that do not compile.
int exit_code_of_tuning(const document& d);

}  // namespace kzoo::results
