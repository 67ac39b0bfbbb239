#include "results/tuned.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kzoo::results {
namespace {

bool is_slower(const cell& c) { return c.time->stopped == timing::stop::slower; }

ranking rank_problem(const document& d, std::size_t problem) {
  ranking r;
  r.problem = problem;
  for (const cell& c : d.cells_of(problem)) {
    if (c.verdict != verdict::pass || d.experiment.is_baseline(c.kernel.plugin, c.kernel.variant))
      continue;
    const timing_options& options = d.experiment.timing;
    const bool waits = !c.time && options.enabled && options.budget_seconds;
    if (waits || (c.time && c.time->stopped == timing::stop::budget)) r.open.push_back(&c);
    if (is_timed(c)) r.ranked.push_back(&c);
  }
  std::ranges::sort(r.ranked, {},
                    [&](const cell* c) { return std::tuple(is_slower(*c), d.comparable_ms(*c)); });
  for (std::size_t i = 1; i < r.ranked.size(); ++i) {
    if (!is_slower(*r.ranked[i]) && d.ratio_of(*r.ranked[i], *r.best()).tie())
      r.ties.push_back(r.ranked[i]);
  }
  return r;
}

tuned_kernel kernel_of(const document& d, const cell& c) {
  tuned_kernel k{c.kernel, c.declared, c.time->median_ms, {}, c.speedup, c.time->stopped};
  // The interval is of the turns' medians, the median of all samples: turns may differ in length.
  k.interval_ms = timing::interval_of_median(timing::turn_medians(*c.time));
  if (k.interval_ms) {
    k.interval_ms->low = std::min(k.interval_ms->low, k.median_ms);
    k.interval_ms->high = std::max(k.interval_ms->high, k.median_ms);
  }
  const plugin_record* const plugin = d.plugin(c.kernel.plugin);
  if (plugin == nullptr) return k;
  if (const built_point* const point = plugin->tuned.point_of(c.kernel.variant)) {
    k.parameters = point->values;
    k.options = point->options;
  }
  return k;
}

std::vector<std::string> names_of(const std::vector<const cell*>& cells) {
  std::vector<std::string> names;
  for (const cell* c : cells) names.push_back(c->kernel.name());
  return names;
}

tuned_plugin plugin_of(const document& d, const plugin_record& p) {
  tuned_plugin t{p.name, p.source, p.file, p.source_sha256, d.experiment.overridden.build_args, ""};
  if (p.description) t.build = p.description->build_info;
  t.missing = p.missing;
  return t;
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
    cost.not_drawn += p.tuned.not_drawn;
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

tuned tuned_of(const document& d) {
  tuned t;
  t.version = d.version;
  t.host = d.host;
  t.started = d.started;
  t.wall_seconds = d.wall_seconds;
  t.device = d.device;
  t.compute_capability = d.device.fact("compute_capability");
  t.experiment = d.experiment.file;
  t.tier = d.experiment.verify.tier;
  if (d.experiment.baseline) t.baseline = d.experiment.baseline->text;
  t.budget_seconds = d.experiment.timing.budget_seconds;
  t.cost = cost_of(d);
  for (const plugin_record& p : d.plugins) t.plugins.push_back(plugin_of(d, p));
  for (const ranking& r : rank(d)) {
    tuned_problem p{d.experiment.problems[r.problem], {}, names_of(r.ties), names_of(r.open)};
    for (const cell* c : r.ranked) p.ranked.push_back(kernel_of(d, *c));
    t.problems.push_back(std::move(p));
  }
  return t;
}

}  // namespace kzoo::results
