#include "results/document.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kzoo::results {
namespace {

// The comparison of a result with itself.
constexpr reference::comparison kNone{0, 0, 0, 0, true};

const cell* baseline_among(std::span<const cell> of_one_problem, const cell& c,
                           const std::string& selector) {
  if (!c.time) return nullptr;
  const auto found = std::ranges::find_if(of_one_problem, [&](const cell& other) {
    return other.time && other.time->clock == c.time->clock &&
           matches(selector, other.kernel.plugin, other.kernel.variant);
  });
  return found == of_one_problem.end() ? nullptr : &*found;
}

bool any_failed(const document& d) {
  return std::ranges::any_of(d.plugins, &plugin_record::broken) ||
         std::ranges::any_of(d.cells, [&](const cell& c) {
           return is_failure(c.verdict) &&
                  !(d.experiment.overridden.tune && does_not_compile(d, c));
         });
}

}  // namespace

void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f) {
  const auto first_of_class = [&](std::size_t i) { return of_one_problem[i].same_as.value_or(i); };
  for (std::size_t b = 1; b < of_one_problem.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const auto [first, second] = std::minmax({first_of_class(a), first_of_class(b)});
      if (first == second) {
        f({a, b, kNone});
        continue;
      }
      const auto& known = of_one_problem[second].differences;
      const auto found = std::ranges::find(known, first, &difference::from);
      if (found != known.end()) f({a, b, found->by});
    }
  }
}

std::span<const cell> document::cells_of(std::size_t problem) const {
  return std::ranges::equal_range(cells, problem, {}, &cell::problem);
}

const plugin_record* document::plugin(const std::string& name) const {
  const auto found = std::ranges::find(plugins, name, &plugin_record::name);
  return found == plugins.end() ? nullptr : &*found;
}

std::optional<double> document::gflops(const cell& c) const {
  if (!c.time || c.time->median_ms <= 0) return std::nullopt;
  return problem_of(c).flops() / (c.time->median_ms * 1e6);
}

std::optional<double> document::share_of_peak(const cell& c) const {
  const auto speed = gflops(c);
  const auto peak = floor_of(c) ? peak_of(c) : std::nullopt;
  return speed && peak ? std::optional(*speed * 1e9 / *peak) : std::nullopt;
}

std::optional<double> document::peak_of(const cell& c) const {
  return peaks ? roofline::peak_of(*peaks, problem_of(c), c.declared) : std::nullopt;
}

std::optional<roofline::floor> document::floor_of(const cell& c) const {
  return c.time ? floor_of(c, *c.time) : std::nullopt;
}

std::optional<roofline::floor> document::floor_of(const cell& c,
                                                  const timing::summary& time) const {
  if (!peaks || time.clock == timing::clock::simulator) return std::nullopt;
  return roofline::floor_of(*peaks, problem_of(c), c.declared, time.caches == timing::caches::cold);
}

std::optional<double> document::published_ms(const cell& c, std::size_t column) const {
  const auto& figures = experiment.published.columns.at(column).ms;
  if (problem_of(c).batch > 1) return std::nullopt;  // figures are for a single GEMM
  const std::string shape = "@" + shape_name(problem_of(c));
  for (const std::string& key : {c.kernel.name() + shape, c.kernel.plugin + shape})
    if (const auto found = figures.find(key); found != figures.end()) return found->second;
  return std::nullopt;
}

const cell* document::baseline_of(const cell& c) const {
  return experiment.baseline ? baseline_of(c, experiment.baseline->text) : nullptr;
}

const cell* document::baseline_of(const cell& c, const std::string& selector) const {
  return baseline_among(cells_of(c.problem), c, selector);
}

kzoo_precision document::expected_precision(const cell& c) const {
  if (const cell* timed = baseline_of(c)) return timed->declared;
  for (const cell& other : cells_of(c.problem)) {
    if (other.declared != 0 && !is_declined(other.verdict) &&
        experiment.is_baseline(other.kernel.plugin, other.kernel.variant))
      return other.declared;
  }
  return usual_precision(problem_of(c).dtype.a);
}

timing::process_spread document::spread_of(timing::clock clock) const {
  // Fresh processes show the variation within the rounds.
  const bool known = peaks && peaks->spread && clock != timing::clock::simulator &&
                     !experiment.timing.fresh_processes;
  return known ? *peaks->spread : timing::process_spread{};
}

timing::ratio document::ratio_of(const cell& a, const cell& b) const {
  if (a.device != b.device) {
    if (a.speedup && b.speedup) return timing::quotient(*b.speedup, *a.speedup);
    return timing::widened(timing::ratio_of_medians(*a.time, *b.time), *a.time, *b.time,
                           spread_of(a.time->clock));
  }
  const timing::ratio paired = timing::paired_ratio(*a.time, *b.time);
  if (a.kernel == b.kernel) return paired;
  return timing::widened(paired, *a.time, *b.time, spread_of(a.time->clock));
}

void document::compare_with_baseline(std::span<cell> of_one_problem, bool is_divided) const {
  if (!experiment.baseline) return;
  for (cell& c : of_one_problem) {
    if (c.speedup) continue;
    const cell* baseline = baseline_among(of_one_problem, c, experiment.baseline->text);
    // Another device may have timed it before the run was interrupted.
    if (baseline == nullptr || baseline->device != c.device) continue;
    c.speedup = ratio_of(*baseline, c);
    if (is_divided) c.baseline_ms = baseline->time->median_ms;
  }
}

double document::comparable_ms(const cell& c) const {
  const cell* baseline = c.baseline_ms && c.speedup ? baseline_of(c) : nullptr;
  return baseline == nullptr || baseline->device == c.device
             ? c.time->median_ms
             : baseline->time->median_ms / c.speedup->value;
}

std::vector<slow_device> document::slow_devices() const {
  if (!experiment.baseline) return {};
  // By device: its time over the fastest device's, and the same less what chance explains.
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> seen;
  for (std::size_t i = 0; i < experiment.problems.size(); ++i) {
    std::map<std::string, const cell*> by_device;
    for (const cell& c : cells_of(i))
      if (c.baseline_ms && is_timed(c)) by_device.emplace(c.device, &c);
    if (by_device.size() < 2) continue;
    const auto ms = [](const auto& on) { return *on.second->baseline_ms; };
    const auto fastest = std::ranges::min_element(by_device, {}, ms);
    for (const auto& on : by_device) {
      constexpr double kDeviations = 3;
      const double chance = kDeviations * std::sqrt(2.0) *
                            timing::deviation(spread_of(on.second->time->clock), ms(on)) / ms(on);
      auto& [slowdowns, certain] = seen[on.first];
      slowdowns.push_back(ms(on) / ms(*fastest));
      certain.push_back(slowdowns.back() - chance);
    }
  }
  std::vector<slow_device> slow;
  constexpr double kNoticed = 1.02;
  for (auto& [id, ratios] : seen) {
    if (timing::median(ratios.second) > kNoticed)
      slow.push_back({id, timing::median(ratios.first), ratios.first.size()});
  }
  return slow;
}

bool does_not_compile(const document& d, const cell& c) {
  const plugin_record* const plugin = d.plugin(c.kernel.plugin);
  if (plugin == nullptr) return false;
  const built_point* const point = plugin->tuned.point_of(c.kernel.variant);
  return point != nullptr && !point->why_not.empty();
}

bool nothing_ran(const document& d) {
  return !any_failed(d) &&
         std::ranges::find(d.cells, verdict::pass, &cell::verdict) == d.cells.end();
}

std::vector<std::string> unjudged_sources(const document& d) {
  std::vector<std::string> names;
  if (!d.complete()) return names;  // its cells may follow
  for (const plugin_record& p : d.plugins) {
    const auto is_judged = [&](const cell& c) {
      return c.kernel.plugin == p.name && !is_declined(c.verdict);
    };
    if (!p.source.empty() && p.description && std::ranges::none_of(d.cells, is_judged))
      names.push_back(p.name);
  }
  return names;
}

int exit_code(const document& d) {
  return any_failed(d) || nothing_ran(d) || !unjudged_sources(d).empty() ? 1 : 0;
}

}  // namespace kzoo::results
