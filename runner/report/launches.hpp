#pragma once
// Counts of profile and xray as tables, with a row for each launch, problem by problem.

#include "profile/ncu.hpp"
#include "report/page.hpp"
#include "report/problem_table.hpp"
#include "xray/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace kzoo::report {

void add_profile(page& p, const profile::document& d);

void add_xray(page& p, const xray::document& d);
// The lines of every kernel's source, annotated.
void add_xray_lines(page& p, const xray::document& d);

// "global load 4 B: 4096 requests, 4.00 sectors each (ideal 4.00)"
std::string counts_text(const xray::line_counts& l);

// short_kernel_name(), at a length that fits a table.
std::string kernel_text(const std::string& demangled);
// The first fields of a launch: its kernel, grid and block.
template <class Launch>
std::vector<table::entry> launched(const Launch& l) {
  // "32x16": without trailing ones.
  const auto extent = [](const auto& sizes) {
    return sizes[2] > 1   ? fmt::format("{}x{}x{}", sizes[0], sizes[1], sizes[2])
           : sizes[1] > 1 ? fmt::format("{}x{}", sizes[0], sizes[1])
                          : fmt::format("{}", sizes[0]);
  };
  return {{"launched", {kernel_text(l.kernel), style::dim}, table::align::left},
          {"grid", {extent(l.grid), style::dim}},
          {"block", {extent(l.block), style::dim}}};
}

inline const auto& launches_of(const profile::profiled& c) { return c.found->launches; }
inline const auto& launches_of(const xray::analysed& c) { return *c.found; }

// Tells the launches of one cell apart.
template <class Cell>
std::string launch_name(const Cell& c, std::size_t index) {
  return launches_of(c).size() == 1 ? c.kernel.name()
                                    : fmt::format("{} #{}", c.kernel.name(), index + 1);
}

// Adds a row for each launch, with its name below `title`. Launches without other entries are left
// out.
template <class Cell, class EntriesOf>
void add_launches(page& p, const char* title, const std::vector<const Cell*>& cells,
                  const EntriesOf& entries_of) {
  table t;
  for (const Cell* c : cells) {
    for (std::size_t i = 0; c->found && i < launches_of(*c).size(); ++i) {
      std::vector<table::entry> row = entries_of(launches_of(*c)[i]);
      if (row.empty()) continue;
      row.insert(row.begin(), {title, launch_name(*c, i), table::align::left});
      t.add_entries(row);
    }
  }
  p.add(t);
  p.end_section();
}

// Calls f(its cells) for each problem, in the order in which they first come, below its name.
template <class Cell, class F>
void for_each_problem(page& p, const std::vector<Cell>& all, const F& f) {
  std::vector<problem> done;
  for (const Cell& first : all) {
    if (std::ranges::find(done, first.problem) != done.end()) continue;
    done.push_back(first.problem);
    std::vector<const Cell*> cells;
    for (const Cell& c : all)
      if (c.problem == first.problem) cells.push_back(&c);
    p.line(problem_name(first.problem), style::bold);
    f(cells);
    p.end_section();
  }
}

// A cell whose run failed.
template <class Cell>
void add_failed(page& p, const Cell& c) {
  p.item(name_of(c.verdict), style_of(c.verdict), " {}: {}", c.kernel.name(), c.reason);
}

}  // namespace kzoo::report
