// [pivot] of an experiment: tables with one axis down and another across.
#include "core/problem.hpp"
#include "os/text.hpp"
#include "report/problem_table.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;
using results::pivot;
using results::pivot_axis;
using results::pivot_value;

std::string coordinate(const document& d, const cell& c, pivot_axis a) {
  const problem& p = d.problem_of(c);
  return a == pivot_axis::m         ? std::to_string(p.m)
         : a == pivot_axis::n       ? std::to_string(p.n)
         : a == pivot_axis::k       ? std::to_string(p.k)
         : a == pivot_axis::shape   ? shape_name(p)
         : a == pivot_axis::dtype   ? types_name(p.dtype)
         : a == pivot_axis::layout  ? std::string(layout_name(p.layout))
         : a == pivot_axis::batch   ? std::to_string(p.batch)
         : a == pivot_axis::problem ? problem_name(p)
         : a == pivot_axis::plugin  ? c.kernel.plugin
         : a == pivot_axis::variant ? c.kernel.variant
                                    : c.kernel.name();
}

// The title of the table that a cell belongs to: what neither axis fixes. M, N and K count as one
// axis, so that a sweep over square problems with n as an axis is one table.
std::string table_of(const document& d, const cell& c, const pivot& p) {
  const auto on_axis = [&](auto... axes) { return ((p.rows == axes || p.columns == axes) || ...); };
  std::vector<std::string> open;
  if (!on_axis(pivot_axis::kernel)) {
    const bool plugin = !on_axis(pivot_axis::plugin), variant = !on_axis(pivot_axis::variant);
    if (plugin || variant) {
      open.push_back(plugin && variant ? c.kernel.name()
                     : plugin          ? c.kernel.plugin
                                       : c.kernel.variant);
    }
  }
  if (!on_axis(pivot_axis::problem)) {
    problem rest = d.problem_of(c);
    if (on_axis(pivot_axis::layout)) rest.layout = layout::nn;
    if (on_axis(pivot_axis::batch)) rest.batch = 1;
    std::string name;
    if (!on_axis(pivot_axis::m, pivot_axis::n, pivot_axis::k, pivot_axis::shape))
      name += ' ' + shape_name(rest);
    if (!on_axis(pivot_axis::dtype)) name += ' ' + types_name(rest.dtype);
    name += problem_details(rest);
    if (!name.empty()) open.push_back(name.substr(1));
  }
  return open.empty() ? "all" : open.size() == 1 ? open[0] : open[0] + ", " + open[1];
}

// A shape, with a letter for the dimension that an axis fixes: "1024x1024xK".
std::string open_shape(const problem& shape, const pivot& p) {
  const auto size = [&](pivot_axis a, std::int64_t value, const char* letter) {
    return p.rows == a || p.columns == a ? letter : std::to_string(value);
  };
  return fmt::format("{}x{}x{}", size(pivot_axis::m, shape.m, "M"),
                     size(pivot_axis::n, shape.n, "N"), size(pivot_axis::k, shape.k, "K"));
}

// A table of several: its rows and columns in the order of the cells, and the cells by position.
struct sheet {
  std::string title;
  std::vector<std::string> rows, columns;
  std::map<std::pair<std::string, std::string>, const cell*> cells;
};

std::vector<sheet> sheets_of(const document& d, const pivot& p) {
  using place = std::array<std::string, 3>;  // title, row, column
  std::vector<place> places;                 // the cells' places
  std::set<place> taken;
  // Titles of tables in which two problems of different shapes have the same place.
  std::set<std::string> ambiguous;
  for (const cell& c : d.cells) {
    places.push_back({table_of(d, c, p), coordinate(d, c, p.rows), coordinate(d, c, p.columns)});
    if (!taken.insert(places.back()).second) ambiguous.insert(places.back()[0]);
  }
  std::vector<sheet> all;
  for (std::size_t i = 0; i < d.cells.size(); ++i) {
    const cell& c = d.cells[i];
    if (c.kernel.variant.empty()) continue;
    auto [title, row, column] = places[i];
    if (ambiguous.contains(title)) title += ", " + open_shape(d.problem_of(c), p);
    auto at = std::ranges::find(all, title, &sheet::title);
    if (at == all.end()) at = all.insert(at, {title, {}, {}, {}});
    add_once(at->rows, row);
    add_once(at->columns, column);
    at->cells[{row, column}] = &c;
  }
  return all;
}

using field_maker = std::function<table::field(const cell&)>;

// Leaves out rows in which no cell is `wanted`.
table fill(const sheet& s, const pivot& p, const std::function<bool(const cell&)>& wanted,
           const field_maker& field_of) {
  table t;
  t.add_column(std::string(name_of(p.rows)), table::align::left);
  for (std::string name : s.columns) {
    std::ranges::replace(name, ' ', '\n');  // long names of problems: one word per line
    t.add_column(name);
  }
  for (const std::string& r : s.rows) {
    std::vector<table::field> row{{r}};
    bool any = false;
    for (const std::string& name : s.columns) {
      const auto found = s.cells.find({r, name});
      row.push_back(found == s.cells.end() ? table::field{} : field_of(*found->second));
      any = any || (found != s.cells.end() && wanted(*found->second));
    }
    if (any) t.add_row(std::move(row));
  }
  return t;
}

// For measured and published times; only measured ones have a speedup, which is not handled here.
std::string value_text(const document& d, const cell& c, double ms, pivot_value v) {
  return v == pivot_value::ms ? time_text(ms) : number_text(d.problem_of(c).flops() / (ms * 1e6));
}

// GFLOP/s instead of speedup if the baseline was not timed, for example on another device.
pivot_value possible(const document& d, pivot_value wanted) {
  const bool compared =
      std::ranges::any_of(d.cells, [&](const cell& c) { return d.baseline_of(c) != nullptr; });
  return wanted == pivot_value::speedup && !compared ? pivot_value::gflops : wanted;
}

table::field verdict_field(const document& d, const cell& c) {
  const bool fine = c.verdict == verdict::pass || c.verdict == verdict::unsupported;
  return {verdict_text(d, c), fine ? style::dim : style::bad};
}

table::field measured(const document& d, const cell& c, pivot_value v, const view& shown) {
  if (!c.time || !shows_time(c, shown)) return verdict_field(d, c);
  const std::string text = v == pivot_value::speedup
                               ? speedup_text(d, c)
                               : value_text(d, c, c.time->median_ms, v) + lower_mark(d, c);
  const bool simulated = !text.empty() && has_simulated_time(c);
  return {text + (simulated ? "*" : "") + (c.time->stopped_early() ? " (stopped early)" : "")};
}

// A rounding error, also of a wrong result.
table::field error_field(const document& d, const cell& c, const std::string& text) {
  if (!c.accuracy || c.accuracy->rows_checked == 0) return verdict_field(d, c);
  return {text, c.verdict == verdict::pass ? style::plain : style::bad};
}

// The figures that tables show of their cells, by name.
std::vector<std::pair<std::string, field_maker>> figures_of(const document& d, pivot_value v,
                                                            const view& shown) {
  if (v == pivot_value::error) {
    const auto of = [](const cell& c) { return c.accuracy.value_or(reference::accuracy{}); };
    return {{"largest error / (u S)",
             [of, &d](const cell& c) { return error_field(d, c, number_text(of(c).max_rho)); }},
            {"relative Frobenius error", [of, &d](const cell& c) {
               return error_field(d, c, fmt::format("{:.1e}", of(c).relative_frobenius));
             }}};
  }
  const std::string name = v == pivot_value::ms ? "time"
                           : v == pivot_value::gflops
                               ? "GFLOP/s"
                               : "speedup over " + d.experiment.baseline.value_or(selector{}).text;
  return {{name, [&d, v, &shown](const cell& c) { return measured(d, c, v, shown); }}};
}

// The published times that the tables' cells have.
void add_published(page& out, const document& d, const sheet& s, const pivot& p, pivot_value value,
                   const std::function<bool(const cell&)>& wanted) {
  // A speedup over a baseline measured here would be meaningless for published times, and they
  // have no errors.
  if (value != pivot_value::ms && value != pivot_value::gflops) return;
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    bool any = false;
    const table t = fill(s, p, wanted, [&](const cell& c) -> table::field {
      const auto ms = d.published_ms(c, i);
      any = any || ms.has_value();
      return {ms ? value_text(d, c, *ms, value) : "", style::dim};
    });
    if (!any) continue;
    out.item("published, " + d.experiment.published.columns[i].label);
    out.add(t);
  }
}

}  // namespace

void add_pivot(page& out, const document& d, const pivot& p) {
  const bool simulated =
      p.value != pivot_value::error && std::ranges::any_of(d.cells, [](const cell& c) {
        return !c.kernel.variant.empty() && has_simulated_time(c);
      });
  // Without --simulator-times, only cells that are not simulated.
  const auto wanted = [&](const cell& c) {
    return !simulated || out.view().simulator_times || (c.time && shows_time(c, out.view()));
  };
  const pivot_value value = possible(d, p.value);
  for (const sheet& s : sheets_of(d, p)) {
    for (const auto& [name, field_of] : figures_of(d, value, out.view())) {
      const table figures = fill(s, p, wanted, field_of);
      if (figures.rows() == 0) continue;
      out.line(s.title, style::bold, ": {} by {} and {}", name, name_of(p.rows),
               name_of(p.columns));
      out.add(figures);
    }
    add_published(out, d, s, p, value, wanted);
    out.end_section();
  }
  if (simulated && out.view().simulator_times) {
    out.line("* time of the simulator: says nothing about the speed of a GPU", style::plain);
    out.end_section();
  }
}

}  // namespace kzoo::report
