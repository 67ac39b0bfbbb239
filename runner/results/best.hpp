#pragma once
// The fastest kernel of each problem, and how certain it is.

#include "results/document.hpp"

#include <cstddef>
#include <vector>

namespace kzoo::results {

struct ranking {
  std::size_t problem = 0;
  // Timed kernels except baseline and simulations, by time; kernels stopped as slower come last.
  std::vector<const cell*> ranked;
  // Kernels after the first whose intervals do not tell them from it.
  std::vector<const cell*> ties;
  // Undecided when the run's time was over: neither measured to the end nor slower beyond doubt.
  // Includes kernels that wait for their first round.
  std::vector<const cell*> open;

  const cell* best() const { return ranked.empty() ? nullptr : ranked.front(); }
};

std::vector<ranking> rank(const document& d);

struct tuning_cost {
  std::size_t points = 0, from_cache = 0, not_compiled = 0, left_out = 0;
  double compile_seconds = 0;
  std::size_t judged = 0, timed = 0, stopped = 0;  // cells; stopped: as slower kernels
  double judge_seconds = 0, time_seconds = 0;
};
tuning_cost cost_of(const document& d);

// 0: complete, each problem has a best kernel, and exit_code() is 0. 1 otherwise.
int exit_code_of_tuning(const document& d);

}  // namespace kzoo::results
