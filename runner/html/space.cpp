#include "html/charts.hpp"
#include "report/focus.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

struct timed_point {
  const results::tuning_point* values;
  const cell* of;
};

// The values of two parameters, and the fastest cell that has them.
struct pair_map {
  std::size_t across, down;  // which parameters
  std::map<std::pair<std::int64_t, std::int64_t>, const cell*> fastest;
  double spread = 1;  // the slowest of these over the fastest
};

std::vector<timed_point> timed_points(const document& d, const results::plugin_record& plugin,
                                      std::size_t problem) {
  std::vector<timed_point> found;
  for (const cell& c : d.cells_of(problem)) {
    if (!is_timed(c) || c.kernel.plugin != plugin.name) continue;
    if (const auto* const point = plugin.tuned.point_of(c.kernel.variant))
      found.push_back({&point->values, &c});
  }
  return found;
}

// The parameters that have several values.
std::vector<std::size_t> varied(const std::vector<timed_point>& points) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; !points.empty() && i < points.front().values->size(); ++i) {
    const auto is_first = [&](const timed_point& p) {
      return p.values->at(i) == points.front().values->at(i);
    };
    if (!std::ranges::all_of(points, is_first)) found.push_back(i);
  }
  return found;
}

// Calls f with the points of each plugin that is tuned over several parameters, on each problem.
void for_each_space(
    const document& d,
    const std::function<void(std::size_t problem, const std::vector<timed_point>&)>& f) {
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    for (const results::plugin_record& plugin : d.plugins) {
      if (plugin.tuned.points.empty()) continue;
      const std::vector<timed_point> points = timed_points(d, plugin, i);
      if (varied(points).size() > 1) f(i, points);
    }
  }
}

const cell& faster(const cell& a, const cell& b) {
  return b.time->median_ms < a.time->median_ms ? b : a;
}

pair_map map_of(const std::vector<timed_point>& points, std::size_t across, std::size_t down) {
  pair_map m{across, down, {}};
  for (const timed_point& p : points) {
    const cell*& known = m.fastest[{p.values->at(across).value, p.values->at(down).value}];
    known = known == nullptr ? p.of : &faster(*known, *p.of);
  }
  const auto ms = [](const auto& entry) { return entry.second->time->median_ms; };
  const auto [least, most] = std::ranges::minmax_element(m.fastest, {}, ms);
  m.spread = ms(*most) / ms(*least);
  return m;
}

std::vector<pair_map> maps_of(const std::vector<timed_point>& points) {
  std::vector<pair_map> maps;
  const std::vector<std::size_t> parameters = varied(points);
  for (auto i = parameters.begin(); i != parameters.end(); ++i)
    for (auto j = i + 1; j != parameters.end(); ++j) maps.push_back(map_of(points, *i, *j));
  std::ranges::stable_sort(maps, std::greater{}, &pair_map::spread);
  return maps;
}

void add_map(chart_rows& rows, const named_result& r, const std::string& problem,
             const std::vector<timed_point>& points, const pair_map& m) {
  const results::tuning_point& names = *points.front().values;
  const std::string across = names[m.across].name, down = names[m.down].name;
  double best = INFINITY;
  for (const timed_point& p : points) best = std::min(best, p.of->time->median_ms);
  for (const auto& [values, c] : m.fastest) {
    const double percent = 100 * best / c->time->median_ms;
    rows.push_back(
        {{"result", json(r.label)},
         {"space", json(fmt::format("{}: {} and {}, {}", c->kernel.plugin, across, down, problem))},
         {"across", json(fmt::format("{} {}", across, values.first))},
         {"down", json(fmt::format("{} {}", down, values.second))},
         {"across_value", json(double(values.first))},
         {"down_value", json(double(values.second))},
         {"percent", json(percent)},
         {"text", json(fmt::format("{:.0f}", percent))},
         {"kernel", json(c->kernel.name())},
         {"time_text", json(timed_text(*c->time))}});
  }
}

}  // namespace

chart_rows space_rows(std::span<const named_result> all) {
  chart_rows rows;
  for (const named_result& r : all) {
    for_each_space(*r.document, [&](std::size_t problem, const std::vector<timed_point>& points) {
      for (const pair_map& m : maps_of(points))
        add_map(rows, r, problem_name(r.document->experiment.problems[problem]), points, m);
    });
  }
  return rows;
}

bool has_space(const document& d) {
  bool found = false;
  for_each_space(d, [&](std::size_t, const auto&) { found = true; });
  return found;
}

}  // namespace kzoo::html
