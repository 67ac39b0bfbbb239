#include "report/report.hpp"

#include "os/text.hpp"
#include "report/problem_table.hpp"
#include "results/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;
using results::ranking;

// "mine:BM64_BN64, mine:BM64_BN128 and 2 more"
std::string some_kernels(const std::vector<const cell*>& cells) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const cell* c : cells) names.push_back(c->kernel.name());
  return some_of(std::move(names), kNamed);
}

// "1.62x (1.60 to 1.65)"
std::string speedup_with_interval(const document& d, const cell& c) {
  const std::string text = speedup_text(d, c);
  if (text.empty() || !c.speedup->likely) return text;
  return fmt::format("{} ({} to {})", text, number_text(c.speedup->likely->low),
                     number_text(c.speedup->likely->high));
}

table best_table(const document& d, const std::vector<ranking>& all) {
  constexpr auto kText = table::align::text;
  table t;
  for (const ranking& r : all) {
    const cell* const best = r.best();
    if (best == nullptr) continue;
    const std::string precision(precision_name(best->declared));
    t.add_entries({{"best per problem", problem_name(d.experiment.problems[r.problem]), kText},
                   {"kernel", {best->kernel.name(), style::good}, kText},
                   {"precision", {precision, style::dim}, kText},
                   {"time", time_text(best->time->median_ms)},
                   {d.experiment.baseline ? "vs " + d.experiment.baseline->text : "",
                    speedup_with_interval(d, *best)},
                   {"as fast,\nas far as can be told", {some_kernels(r.ties), style::dim}, kText}});
  }
  return t;
}

// "BM = 128 is the largest that was tried, BK = 8 the least", unless the best lies within the
// space.
std::optional<std::string> edges_of(const document& d, const cell& best) {
  const results::plugin_record* const plugin = d.plugin(best.kernel.plugin);
  if (plugin == nullptr) return std::nullopt;
  const results::built_point* const point = plugin->tuned.point_of(best.kernel.variant);
  if (point == nullptr) return std::nullopt;
  std::string edges;
  for (std::size_t i = 0; i < point->values.size(); ++i) {
    const auto tried = [&](const results::built_point& p) { return p.values[i].value; };
    const auto [least, largest] = std::ranges::minmax(plugin->tuned.points, {}, tried);
    const auto& [name, value] = point->values[i];
    if (tried(least) == tried(largest) || (value != tried(least) && value != tried(largest)))
      continue;
    add_item(edges, fmt::format("{} = {}{} the {}", name, value, edges.empty() ? " is" : "",
                                value == tried(least) ? "least" : "largest"));
  }
  if (edges.empty()) return std::nullopt;
  return edges + " that was tried";
}

// Doubts about the best kernel.
void add_doubts(page& p, const document& d, const ranking& r) {
  const std::string problem = problem_name(d.experiment.problems[r.problem]);
  const cell& best = *r.best();
  if (!r.open.empty()) {
    p.item("open", style::bad, " on {}: the budget was over before {} was decided", problem,
           some_kernels(r.open));
  }
  if (std::isnan(best.time->relative_half_width)) {
    p.item("no interval", style::bad,
           " on {}: {} was timed in {}, too few to say how sure its time is", problem,
           best.kernel.name(), counted(timing::turns(*best.time).size(), "round"));
  }
  if (const auto edges = edges_of(d, best))
    p.item("at the edge", style::dim, " on {}: {}", problem, *edges);
}

// Why a problem has no best kernel.
std::string why_none(const document& d, const ranking& r) {
  if (!r.open.empty()) {
    return fmt::format(
        "--budget {:g}s was over before all {} kernels had been judged and timed once: give more",
        *d.experiment.timing.budget_seconds, r.open.size());
  }
  const bool any_passed = std::ranges::any_of(
      d.cells_of(r.problem), [](const cell& c) { return c.verdict == verdict::pass; });
  const bool simulated = std::ranges::any_of(d.plugins, [](const results::plugin_record& p) {
    return p.description && p.description->simulated();
  });
  if (simulated && any_passed) {
    return "its kernels ran in the simulator, which says whether they are right and not how fast they "
           "are: tune on a GPU (--device cuda). The verdicts above hold";
  }
  return "no kernel was timed; the reasons are above";
}

void add_cost(page& p, const document& d) {
  const results::tuning_cost c = results::cost_of(d);
  std::string text = fmt::format("cost: {} points", c.points);
  if (c.points > 0) {
    text += fmt::format(", compiled in {:.1f} s", c.compile_seconds);
    if (c.from_cache > 0) text += fmt::format(" ({} were in the cache)", c.from_cache);
    if (c.left_out > 0)
      text += fmt::format(" ({} more are left out, as half of the budget was over)", c.left_out);
    if (c.not_drawn > 0) text += fmt::format(" ({} more of the space were not drawn)", c.not_drawn);
    if (c.not_compiled > 0) text += fmt::format(" ({} do not compile)", c.not_compiled);
  }
  text += fmt::format("; {} cells judged in {:.1f} s; {} timed in {:.1f} s", c.judged,
                      c.judge_seconds, c.timed, c.time_seconds);
  if (c.stopped > 0) text += fmt::format(", {} of them stopped early as slower", c.stopped);
  p.item(text);
}

}  // namespace

void add_tuned(page& p, const document& d) {
  const std::vector<ranking> all = results::rank(d);
  p.add(best_table(d, all));
  for (const ranking& r : all) {
    const std::string problem = problem_name(d.experiment.problems[r.problem]);
    if (r.best() == nullptr) {
      p.item("no best", style::bad, " on {}: {}", problem, why_none(d, r));
    } else {
      add_doubts(p, d, r);
    }
  }
  add_cost(p, d);
  p.end_section();
}

}  // namespace kzoo::report
