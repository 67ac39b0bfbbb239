#pragma once
// What the reports of profile and xray share: tables with a row for each launch, problem by
// problem.

#include "core/problem.hpp"
#include "profile/counters.hpp"
#include "report/problem_table.hpp"
#include "xray/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::report {

// Calls f(problem, its cells) for each problem, in the order in which they first come.
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

inline const auto& launches_of(const profile::profiled& c) { return c.found->launches; }
inline const auto& launches_of(const xray::analysed& c) { return *c.found; }

// Tells the launches of one cell apart.
template <class Cell>
std::string launch_name(const Cell& c, std::size_t index) {
  return launches_of(c).size() == 1 ? c.kernel.name()
                                    : fmt::format("{} #{}", c.kernel.name(), index + 1);
}

// A launch whose row is empty is left out.
template <class Cell, class Row>
void add_launches(page& p, table t, const std::vector<const Cell*>& cells, const Row& row) {
  for (const Cell* c : cells) {
    for (std::size_t i = 0; c->found && i < launches_of(*c).size(); ++i) {
      auto fields = row(launch_name(*c, i), launches_of(*c)[i]);
      if (!fields.empty()) t.add_row(std::move(fields));
    }
  }
  p.add(t);
  p.end_section();
}

// One whose run failed.
template <class Cell>
void add_failed(page& p, const Cell& c) {
  p.item(verdict_name(c.verdict), style_of(c.verdict),
         fmt::format(" {}: {}", c.kernel.name(), c.reason));
}

}  // namespace kzoo::report
