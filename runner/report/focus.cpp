#include "report/focus.hpp"

#include "core/problem.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

// Whether a is to be shown rather than b.
bool is_better(const document& d, const cell& a, const cell& b) {
  // Kernels that were measured to the end come first, as in tuning (results/tuned.hpp).
  const auto rank = [](const cell& c) {
    if (is_timed(c)) return c.time->stopped == timing::stop::slower ? 1 : 0;
    return is_failure(c.verdict) ? 2 : 3;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return is_timed(a) && d.comparable_ms(a) < d.comparable_ms(b);
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The plugins that took part, each once.
std::vector<std::string> plugins_of(const document& d) {
  std::vector<std::string> all;
  for (const cell& c : d.cells)
    if (!is_declined(c.verdict)) add_once(all, c.kernel.plugin);
  return all;
}

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

// The common part of all problems, if they differ only in their sizes: "f32".
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

std::vector<const cell*> best_of_each(const document& d, std::size_t problem) {
  std::vector<const cell*> best;
  for (const cell& c : d.cells_of(problem)) {
    if (is_declined(c.verdict)) continue;
    const auto known = std::ranges::find_if(
        best, [&](const cell* b) { return b->kernel.plugin == c.kernel.plugin; });
    if (known == best.end()) {
      best.push_back(&c);
    } else if (is_better(d, c, **known)) {
      *known = &c;
    }
  }
  return best;
}

const cell* fastest_of(const document& d, std::size_t problem,
                       const std::function<bool(const cell&)>& counts) {
  const cell* fastest = nullptr;
  for (const cell* c : best_of_each(d, problem)) {
    if (!is_timed(*c) || !counts(*c)) continue;
    if (fastest == nullptr || d.comparable_ms(*c) < d.comparable_ms(*fastest)) fastest = c;
  }
  return fastest;
}

const cell* best_of(const document& d, std::size_t problem, const std::string& plugin) {
  for (const cell* c : best_of_each(d, problem))
    if (c->kernel.plugin == plugin) return c;
  return nullptr;
}

standing standing_of(const document& d, const cell& c) {
  standing s;
  for (const cell* other : best_of_each(d, c.problem)) {
    if (other->kernel.plugin == c.kernel.plugin || !is_timed(*other) ||
        other->time->clock != c.time->clock) {
      continue;
    }
    ++s.of;
    s.mixed = s.mixed || have_different_precision(d, c, *other);
    if (d.comparable_ms(*other) < d.comparable_ms(c)) ++s.place;
  }
  return s;
}

std::string standing::text() const {
  if (of <= 2) return "";
  return fmt::format("{} of {}{}", place, of, mixed ? ", in several precisions" : "");
}

bool have_different_precision(const document& d, const cell& a, const cell& b) {
  const element_types& types = d.problem_of(a).dtype;
  return is_less_precise(a.declared, b.declared, types) ||
         is_less_precise(b.declared, a.declared, types);
}

bool focus::is_own(const std::string& plugin) const { return holds(own, plugin); }

std::vector<std::string> focus::talked_of() const {
  return own.empty() && !subject.empty() ? std::vector{subject} : own;
}

focus focus_of(const document& d) {
  focus f;
  for (const cell& c : d.cells) {
    if (const cell* baseline = d.baseline_of(c)) f.baseline = baseline->kernel.plugin;
    if (!f.baseline.empty()) break;
  }
  std::vector<std::string> others = plugins_of(d);
  std::erase(others, f.baseline);
  for (const results::plugin_record& r : d.plugins) {
    const auto is_of_it = [&](const cell& c) { return c.kernel.plugin == r.name; };
    if (r.description && r.name != f.baseline && is_authors(r, d.invoked.plugin_folders) &&
        std::ranges::any_of(d.cells, is_of_it))
      f.own.push_back(r.name);
  }
  if (f.own.size() == 1) {
    f.subject = f.own.front();
  } else if (others.size() == 1 && !f.baseline.empty()) {
    f.subject = others.front();
  }
  return f;
}

std::size_t main_problem(const document& d, const std::vector<std::string>& plugins) {
  const std::size_t none = d.experiment.problems.size();
  std::size_t subject = none;
  std::tuple<std::size_t, double> most;
  for (std::size_t i = 0; i < none; ++i) {
    std::vector<const cell*> timed = best_of_each(d, i);
    std::erase_if(timed, [&](const cell* c) {
      return !is_timed(*c) || (!plugins.empty() && !holds(plugins, c->kernel.plugin));
    });
    const std::tuple here{timed.size(), d.experiment.problems[i].flops()};
    if (timed.empty() || (subject != none && here <= most)) continue;
    most = here;
    subject = i;
  }
  return subject;
}

std::string baseline_name(const document& d) {
  if (!d.experiment.baseline) return "";
  const std::string& name = d.experiment.baseline->text;
  return name.ends_with(":*") ? name.substr(0, name.size() - 2) : name;
}

table focus_table(const document& d, const focus& f, const view& v) {
  const bool own_ran = std::ranges::any_of(
      d.cells, [&](const cell& c) { return f.is_own(c.kernel.plugin) && !is_declined(c.verdict); });
  const auto in_focus = [&](const std::string& plugin) {
    return !own_ran || f.is_own(plugin) || plugin == f.baseline;
  };
  const std::size_t problems = d.experiment.problems.size();
  std::vector<std::string> plugins;
  std::vector<const cell*> cells;  // the subject's cells, or all
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
