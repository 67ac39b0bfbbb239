#include "report/focus.hpp"

#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

table::field verdict_of(const document& d, const cell& c) {
  return {verdict_text(d, c), style_of(c.verdict)};
}

// A row for each of the cells, which are of one plugin or on one problem. `launch`: also the
// resources of its kernels.
table focus_rows(const document& d, const std::vector<const cell*>& cells, bool by_problem,
                 bool launch, const view& v) {
  constexpr auto kLeft = table::align::left;
  std::set<std::string> names;
  for (const cell* c : cells) names.insert(c->kernel.name());
  const bool tells_variant = by_problem && names.size() > 1;
  const bool all_pass = std::ranges::all_of(
      cells, [&](const cell* c) { return verdict_text(d, *c) == "pass" && is_timed(*c); });
  const auto dim = [](const char* title, const std::string& text,
                      table::align a = table::align::right) {
    return table::entry{title, {text, style::dim}, a};
  };
  table t;
  for (const cell* each : cells) {
    const cell& c = *each;
    const bool shown = c.time && shows_time(c, v), real = is_timed(c);
    const bool compared = shown && c.speedup && d.baseline_of(c) != &c;
    const auto floor = d.peak_of(c) ? d.floor_of(c) : std::nullopt;
    const double mhz = real ? timing::median_mhz(*c.time) : 0;
    const results::conditions& k = c.conditions;
    const results::launch* l = launch ? results::main_launch(c.launches) : nullptr;
    t.add_entries(
        {{by_problem ? "problem" : "kernel",
          by_problem ? problem_name(d.problem_of(c)) : c.kernel.name(), kLeft},
         {"verdict", all_pass ? table::field() : verdict_of(d, c), kLeft},
         {d.experiment.baseline ? "vs " + d.experiment.baseline->text : "",
          {shown ? speedup_text(d, c) : "", style::bold}},
         {"time", shown ? time_text(c.time->median_ms) + (real ? "" : "*") : ""},
         {"GFLOP/s", real ? number_text(d.gflops(c).value_or(0)) : ""},
         dim("95 % interval", compared ? interval_text(*c.speedup) : ""),
         dim("place", real ? standing_of(d, c).text() : ""),
         {"of roofline", floor ? fmt::format("{:.0f}% of {}", 100 * floor->ms / c.time->median_ms,
                                             name_of(floor->resource))
                               : ""},
         dim("SM clock", mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : ""),
         dim("power", k.watts && mhz > 0
                          ? fmt::format("{:.0f} W{}", *k.watts, k.power_capped() ? ", capped" : "")
                          : ""),
         dim("regs", l ? std::to_string(l->registers) : ""),
         dim("shared", l ? shared_text(*l) : ""),
         dim("occupancy", l ? fmt::format("{:.0f}%", 100 * l->occupancy()) : ""),
         dim(kErrorTitle, accuracy_text(d, c)),
         dim("variant", tells_variant ? c.kernel.variant : "", kLeft)});
  }
  return t;
}

// What all problems have in common, if they differ only in their sizes: "f32".
std::string shared_family(const document& d) {
  std::set<std::string> families;
  for (const problem& p : d.experiment.problems)
    families.insert(types_name(p.dtype) + problem_details(p));
  return families.size() == 1 ? *families.begin() : "";
}

// "512³ f32", or without what all have.
std::string short_name(const problem& p, bool shape_alone) {
  const std::string shape = p.m == p.n && p.n == p.k ? std::to_string(p.m) + "³" : shape_name(p);
  return shape_alone ? shape
                     : fmt::format("{} {}{}", shape, types_name(p.dtype), problem_details(p));
}

// Plugins down, problems across; the fastest on each problem in bold.
table matrix(const document& d, const std::vector<std::string>& plugins) {
  bool compared = false;
  for (const cell& c : d.cells)
    compared = compared || (d.experiment.baseline && is_timed(c) && c.speedup);
  const std::string family = shared_family(d);
  table t;
  t.add_column((compared ? "vs " + d.experiment.baseline->text : "GFLOP/s") +
                   (family.empty() ? "" : ", " + family),
               table::align::left);
  std::vector<std::vector<table::field>> rows;
  for (const std::string& plugin : plugins) rows.push_back({{plugin}});
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    std::string name = short_name(d.experiment.problems[i], !family.empty());
    std::ranges::replace(name, ' ', '\n');
    t.add_column(name);
    for (std::vector<table::field>& row : rows) row.emplace_back();
    for (const cell* c : best_of_each(d, i)) {
      const auto at = std::ranges::find(plugins, c->kernel.plugin);
      if (at == plugins.end()) continue;
      table::field& field = rows[static_cast<std::size_t>(at - plugins.begin())].back();
      if (!is_timed(*c)) {
        field = verdict_of(d, *c);
        continue;
      }
      field.text = compared ? speedup_text(d, *c)
                            : number_text(d.gflops(*c).value_or(0)) + lower_mark(d, *c);
      if (standing_of(d, *c).place == 1) field.style = style::bold;
    }
  }
  for (std::vector<table::field>& row : rows) t.add_row(std::move(row));
  return t;
}

}  // namespace

table focus_table(const document& d, const focus& f, const view& v) {
  const bool own_ran = std::ranges::any_of(
      d.cells, [&](const cell& c) { return f.is_own(c.kernel.plugin) && !is_declined(c.verdict); });
  const auto in_focus = [&](const std::string& plugin) {
    return !own_ran || f.is_own(plugin) || plugin == f.baseline;
  };
  const std::size_t problems = d.experiment.problems.size();
  std::vector<std::string> plugins;
  std::vector<const cell*> cells;  // of the subject, or of all of them
  for (std::size_t i = 0; i < problems; ++i) {
    for (const cell* c : best_of_each(d, i)) {
      const std::string& plugin = c->kernel.plugin;
      if (!in_focus(plugin)) continue;
      add_once(plugins, plugin);
      if (problems == 1 || plugin == f.subject) cells.push_back(c);
    }
  }
  if (!cells.empty())
    return focus_rows(d, cells, problems > 1, !f.own.empty() || !f.subject.empty(), v);
  if (main_problem(d, {}) == problems) return checks_table(d, in_focus);
  return matrix(d, plugins);
}

}  // namespace kzoo::report
