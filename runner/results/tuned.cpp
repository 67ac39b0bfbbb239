#include "results/tuned.hpp"

#include <algorithm>
#include <utility>

namespace kzoo::results {
namespace {

tuned_kernel kernel_of(const document& d, const cell& c) {
  tuned_kernel k{c.kernel, c.declared, c.time->median_ms, {}, c.speedup, c.time->stopped};
  std::vector<double> medians;
  for (const timing::turn& t : timing::turns(*c.time)) medians.push_back(t.median_ms);
  k.interval_ms = timing::interval_of_median(medians);
  const auto plugin = std::ranges::find(d.plugins, c.kernel.plugin, &plugin_record::name);
  if (plugin == d.plugins.end()) return k;
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
