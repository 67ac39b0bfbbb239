#include "report/report.hpp"

#include "os/text.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kzoo::report {
namespace {

using compare::change;
using compare::comparison;
using results::cell;
using results::document;

style style_of_change(change c) {
  using enum change;
  if (c == slower || c == broken || c == declined || c == failing) return style::bad;
  return c == faster || c == repaired ? style::good : style::dim;
}

std::string percent(double ratio) { return fmt::format("{:+.1f}%", 100 * (ratio - 1)); }

// The time, or the verdict if there is none.
std::string time_or_verdict(const cell* c) {
  if (c == nullptr) return "";
  return c->time ? time_text(c->time->median_ms) : std::string(name_of(c->verdict));
}

void add_source(page& p, const char* which, const document& d) {
  p.item(fmt::format("{}: {} on {} ({}), {}, kernel-zoo {}", which,
                     d.experiment.file.filename().string(), fmt::join(d.devices, ", "),
                     d.device.name, d.started, d.version));
}

void add_simulator_note(page& p, const document& d) {
  if (std::ranges::any_of(d.cells, results::has_simulated_time))
    p.item("note: times of the simulator say nothing about the speed of a GPU");
}

std::vector<table::entry> entries_of(const comparison& c, const compare::pair& p) {
  std::string much, interval;
  if (p.time) much = percent(p.time->value);
  if (p.time && p.time->likely)
    interval = percent(p.time->likely->low) + " to " + percent(p.time->likely->high);
  const std::string lower = p.after != nullptr ? lower_than(c.after, *p.after, p.before) : "";
  return {{"kernel", (p.before != nullptr ? p.before : p.after)->kernel.name(), table::align::text},
          {"old", time_or_verdict(p.before)},
          {"new", time_or_verdict(p.after)},
          {"change", much},
          {"95% interval", {interval, style::dim}},
          {"",
           {std::string(name_of(p.change)) + lower, style_of_change(p.change)},
           table::align::left}};
}

// The cell of the other document for the same kernel and problem, if it was timed.
const cell* timed_counterpart(const document& d, const std::string& problem,
                              const std::string& kernel) {
  const auto found = std::ranges::find_if(d.cells, [&](const cell& c) {
    return is_timed(c) && c.kernel.name() == kernel && problem_name(d.problem_of(c)) == problem;
  });
  return found == d.cells.end() ? nullptr : &*found;
}

// "; over 4 cells 16.0 % less time than before"; nothing where no cell can be compared.
std::string change_text(const document& now, const document& before, const std::string& plugin) {
  double sum = 0;
  std::size_t count = 0;
  for (const cell& c : now.cells) {
    if (c.kernel.plugin != plugin || !is_timed(c)) continue;
    const cell* was = timed_counterpart(before, problem_name(now.problem_of(c)), c.kernel.name());
    if (was == nullptr) continue;
    sum += std::log(c.time->median_ms / was->time->median_ms);
    ++count;
  }
  if (count == 0) return "";
  const double ratio = std::exp(sum / static_cast<double>(count));
  const double percent = 100 * std::abs(ratio - 1);
  constexpr double kShown = 0.05;
  const std::string where = count == 1 ? "; " : fmt::format("; over {} cells ", count);
  if (percent < kShown) return where + "no other time than before";
  return fmt::format("{}{:.1f} % {} time than before", where, percent, ratio < 1 ? "less" : "more");
}

}  // namespace

table change_table(const comparison& c, const std::string& plugin) {
  table t;
  std::set<kernel_id> kernels;
  const auto in_both = [&](const compare::pair& p) {
    return p.before != nullptr && p.after != nullptr && p.after->kernel.plugin == plugin;
  };
  for (const compare::pair& p : c.pairs)
    if (in_both(p)) kernels.insert(p.after->kernel);
  for (const compare::pair& p : c.pairs) {
    if (!in_both(p)) continue;
    std::vector<table::entry> row = entries_of(c, p);
    if (kernels.size() == 1) row[0].field.text.clear();
    row.insert(row.begin(), {"problem", problem_name(c.problem_of(p)), table::align::text});
    t.add_entries(row);
  }
  return t;
}

std::string comparison_text(const comparison& c, const view& v) {
  page p(v);
  p.line("Comparison", style::bold, " of times; changes below {:g}% do not count",
         100 * c.threshold);
  add_source(p, "old", c.before);
  add_source(p, "new", c.after);
  if (const auto why = compare::incomparable(c.before, c.after)) p.item("note: " + *why);
  add_simulator_note(p, c.after);
  p.end_section();

  for (std::size_t i = 0; i < c.pairs.size();) {
    const problem& here = c.problem_of(c.pairs[i]);
    table t;
    const std::size_t first = i;
    for (; i < c.pairs.size() && c.problem_of(c.pairs[i]) == here; ++i)
      t.add_entries(entries_of(c, c.pairs[i]));
    p.line(problem_name(here), style::bold);
    p.add(t);
    for (std::size_t j = first; j < i; ++j) {
      const auto what = c.pairs[j].change;
      if (what != change::broken && what != change::declined) continue;
      const cell& now = *c.pairs[j].after;
      p.item(name_of(now.verdict), style::bad, " {}: {}", c.pairs[j].before->kernel.name(),
             now.reason);
    }
    p.end_section();
  }

  std::string counts;
  for (const change each : kAllOf<compare::change>) {
    if (const auto count = c.count(each); count > 0)
      add_item(counts, fmt::format("{} {}", count, name_of(each)));
  }
  const bool bad = c.regressed();
  p.line(bad ? "REGRESSION" : "ok", bad ? style::bad : style::good,
         ": " + (counts.empty() ? "nothing to compare" : counts));
  return p.take();
}

std::string ranking_text(const document& d, const std::string& baseline,
                         const std::vector<compare::ranking>& rankings, const view& v) {
  page p(v);
  p.line("Ranking", style::bold, " against {}; tie: the 95% interval contains 1", baseline);
  add_source(p, "results", d);
  add_simulator_note(p, d);
  p.end_section();
  for (const compare::ranking& r : rankings) {
    table t;
    for (const compare::place& each : r.places) {
      const auto& likely = each.speed.likely;
      const char* word = each.is_baseline   ? "baseline"
                         : !likely          ? "uncertain"
                         : each.speed.tie() ? "tie"
                         : likely->low > 1  ? "faster"
                                            : "slower";
      const std::string lower = lower_than(d, *each.cell, d.baseline_of(*each.cell, baseline));
      t.add_entries(
          {{"", std::to_string(t.rows() + 1)},
           {"kernel", each.cell->kernel.name(), table::align::text},
           {"time", time_text(each.cell->time->median_ms)},
           {"vs " + baseline, number_text(each.speed.value) + "x" + lower},
           {"95% interval", {each.is_baseline ? "" : interval_text(each.speed), style::dim}},
           {"", {word, style::dim}, table::align::left}});
    }
    p.line(problem_name(d.experiment.problems[r.problem]), style::bold);
    p.add(t);
    p.end_section();
  }
  return p.take();
}

bool all_right(const document& d, const std::string& plugin) {
  bool any = false;
  for (const cell& c : d.cells) {
    if (c.kernel.plugin != plugin) continue;
    if (is_failure(c.verdict)) return false;
    any = any || c.verdict == verdict::pass;
  }
  return any;
}

std::string change_line(const document& now, const document* before, const std::string& plugin) {
  std::string counts, first_failure, first_decline;
  bool is_judged = false;
  const cell* longest = nullptr;
  for (const verdict v : kAllOf<verdict>) {
    std::size_t count = 0;
    for (const cell& c : now.cells) {
      if (c.kernel.plugin != plugin || c.verdict != v) continue;
      ++count;
      if (!is_declined(v))
        is_judged = true;
      else if (first_decline.empty())
        first_decline = fmt::format("; {}: {}", c.kernel.name(), printable(c.reason));
      if (is_failure(v) && first_failure.empty()) {
        first_failure = fmt::format("; {} on {}: {}", c.kernel.name(),
                                    problem_name(now.problem_of(c)), printable(c.reason));
      }
      if (is_timed(c) && (longest == nullptr || c.time->median_ms > longest->time->median_ms))
        longest = &c;
    }
    if (count > 0) add_item(counts, fmt::format("{} {}", count, name_of(v)));
  }
  std::string line = fmt::format("{}: {}", plugin, counts.empty() ? "nothing ran" : counts);
  if (longest != nullptr) {
    const std::string problem = problem_name(now.problem_of(*longest));
    line += fmt::format("; {} {}", problem, time_text(longest->time->median_ms));
    if (before != nullptr) {
      const cell* was = timed_counterpart(*before, problem, longest->kernel.name());
      if (was != nullptr) line += ", was " + time_text(was->time->median_ms);
      line += change_text(now, *before, plugin);
    }
  }
  return line + (is_judged ? first_failure : first_decline);
}

}  // namespace kzoo::report
