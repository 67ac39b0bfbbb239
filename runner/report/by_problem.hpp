#pragma once
// Cells of several problems, problem by problem.

#include "core/problem.hpp"

#include <algorithm>
#include <vector>

namespace kzoo::report {

// Calls f(problem, its cells) for each problem, in the order in which they first come. A Cell has a
// member `problem`.
template <class Cell, class F>
void for_each_problem(const std::vector<Cell>& all, const F& f) {
  std::vector<problem> done;
  for (const Cell& first : all) {
    if (std::ranges::find(done, first.problem) != done.end()) continue;
    done.push_back(first.problem);
    std::vector<const Cell*> cells;
    for (const Cell& c : all)
      if (c.problem == first.problem) cells.push_back(&c);
    f(first.problem, cells);
  }
}

}  // namespace kzoo::report
