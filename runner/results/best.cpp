#include "results/best.hpp"

#include <algorithm>
#include <tuple>

namespace kzoo::results {
namespace {

bool is_slower(const cell& c) { return c.time->stopped == timing::stop::slower; }

ranking rank_problem(const document& d, std::size_t problem) {
  ranking r;
  r.problem = problem;
  for (const cell& c : d.cells_of(problem)) {
    if (c.verdict != verdict::pass || d.experiment.is_baseline(c.kernel.plugin, c.kernel.variant))
      continue;
    const timing_options& how = d.experiment.timing;
    const bool waits = !c.time && how.enabled && how.budget_seconds;
    if (waits || (c.time && c.time->stopped == timing::stop::budget)) r.open.push_back(&c);
    if (c.time && c.time->clock != timing::clock::simulator) r.ranked.push_back(&c);
  }
  std::ranges::sort(r.ranked, {},
                    [](const cell* c) { return std::tuple(is_slower(*c), c->time->median_ms); });
  for (std::size_t i = 1; i < r.ranked.size(); ++i) {
    if (!is_slower(*r.ranked[i]) && d.ratio_of(*r.ranked[i], *r.best()).tie())
      r.ties.push_back(r.ranked[i]);
  }
  return r;
}

}  // namespace

std::vector<ranking> rank(const document& d) {
  std::vector<ranking> all;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i)
    if (!d.cells_of(i).empty()) all.push_back(rank_problem(d, i));
  return all;
}

tuning_cost cost_of(const document& d) {
  tuning_cost cost;
  for (const plugin_record& p : d.plugins) {
    cost.points += p.tuned.points.size();
    cost.from_cache += p.tuned.from_cache;
    cost.left_out += p.tuned.left_out;
    cost.compile_seconds += p.tuned.seconds;
    for (const built_point& point : p.tuned.points)
      cost.not_compiled += point.why_not.empty() ? 0 : 1;
  }
  for (const cell& c : d.cells) {
    cost.judged += is_declined(c.verdict) || does_not_compile(d, c) ? 0 : 1;
    cost.timed += c.time ? 1 : 0;
    cost.stopped += c.time && is_slower(c) ? 1 : 0;
    cost.judge_seconds += c.judge_seconds;
    cost.time_seconds += c.time_seconds;
  }
  return cost;
}

int exit_code_of_tuning(const document& d) {
  const std::vector<ranking> all = rank(d);
  return d.complete() && exit_code(d) == 0 && std::ranges::all_of(all, &ranking::best) ? 0 : 1;
}

}  // namespace kzoo::results
