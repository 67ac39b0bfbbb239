#include "html/charts.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::html {
namespace {

using results::cell;
using results::document;

// The roofs of a result over the intensities that are plotted. Where a roof bends is drawn if that
// is near. The name stands at the right end; roofs close to each other share one.
void add_roofs(chart_rows& rows, const named_result& r,
               const std::map<kzoo_precision, double>& peaks, double left, double right) {
  constexpr double kMargin = 1.3, kNear = 4, kClose = 1.25;
  const double memory = *roofline::memory_rate(*r.document->peaks);
  std::vector<std::pair<double, kzoo_precision>> roofs;
  for (const auto& [precision, peak] : peaks) roofs.emplace_back(peak, precision);
  std::ranges::sort(roofs);
  std::string names;
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const auto [peak, precision] = roofs[i];
    const std::string text =
        fmt::format("{} {}", precision_name(precision), quantity_text(peak, "FLOP/s"));
    report::add_item(names, text);
    const bool is_last = i + 1 == roofs.size() || roofs[i + 1].first > kClose * peak;
    const double bend = peak / memory;
    std::set<double> corners{left / kMargin, right * kMargin};
    if (bend > left / kNear && bend < right * kNear) corners.insert({bend / kMargin, bend});
    for (const double x : corners) {
      rows.push_back({{"result", r.label},
                      {"precision", precision_name(precision)},
                      {"intensity", x},
                      {"rate", std::min(peak, x * memory) / 1e9},
                      {"text", fmt::format("{}, memory {}", text, quantity_text(memory, "B/s"))},
                      {"name", x == *corners.rbegin() && is_last ? names : ""}});
    }
    if (is_last) names.clear();
  }
}

}  // namespace

chart_rows sample_rows(const std::vector<plotted>& cells) {
  chart_rows rows;
  for (const plotted& p : cells) {
    if (!is_timed(*p.cell)) continue;
    const timing::summary& time = *p.cell->time;
    json rounds, ms, mhz = json::array();
    for (const int round : time.rounds.unpacked()) rounds.push_back(round + 1);
    for (const double x : time.samples_ms.unpacked())
      ms.push_back(json::parse(fmt::format("{:.6g}", x)));
    for (const double x : time.sm_mhz.unpacked())
      mhz.push_back(x > 0 ? json(std::lround(x)) : json());
    rows.push_back({{"cell", p.row["cell"]}, {"round", rounds}, {"ms", ms}, {"mhz", mhz}});
  }
  return rows;
}

chart_rows agreement_rows(std::span<const named_result> all) {
  chart_rows rows;
  for (const named_result& r : all) {
    const report::agreement_matrix m = report::agreement_of(*r.document);
    if (m.names.size() > report::kLargestMatrix) continue;
    for (std::size_t a = 0; a < m.names.size(); ++a) {
      for (std::size_t b = 0; b < m.names.size(); ++b) {
        const auto found = m.entries.find(std::minmax(a, b));
        if (a == b || found == m.entries.end()) continue;
        const report::agreed& worst = found->second;
        const bool agree = worst.agreeing == worst.pairs;
        rows.push_back({{"result", r.label},
                        {"row", a + 1},
                        {"column", b + 1},
                        {"kernel", m.names[a]},
                        {"other", m.names[b]},
                        {"percent", std::min(100.0, 100 * worst.of_allowed)},
                        {"text", report::agreement_field(worst).text},
                        {"kind", !agree                  ? "differ"
                                 : worst.of_allowed == 0 ? "bit-identical"
                                                         : "agree"}});
      }
    }
  }
  return rows;
}

chart_rows roof_rows(std::span<const named_result> all) {
  chart_rows rows;
  for (const named_result& r : all) {
    const document& d = *r.document;
    if (!d.peaks || !roofline::memory_rate(*d.peaks)) continue;
    std::map<kzoo_precision, double> peaks;
    double left = INFINITY, right = 0;
    for (const cell& c : d.cells) {
      const auto peak = is_timed(c) ? d.peak_of(c) : std::nullopt;
      if (!peak) continue;
      peaks[c.declared] = *peak;
      const double x = roofline::intensity_of(*d.peaks, d.problem_of(c));
      left = std::min(left, x);
      right = std::max(right, x);
    }
    add_roofs(rows, r, peaks, left, right);
  }
  return rows;
}

chart_rows error_rows(const std::vector<plotted>& cells, bool several_results) {
  chart_rows rows;
  for (const auto& [r, c, row] : cells) {
    if (!c->errors) continue;
    const reference::error_map& map = *c->errors;
    json first_rows;
    for (std::size_t y = 0; y < map.picture.size(); ++y)
      first_rows.push_back(std::int64_t(y) * map.rows_per_line);
    rows.push_back(
        {{"map", fmt::format("{}{} on {}", several_results ? r->label + ": " : "", c->kernel.name(),
                             problem_name(r->document->problem_of(*c)))},
         {"line", map.picture},
         {"row", first_rows},
         {"high", map.rows_per_line},
         {"wide", map.columns_per_character}});
  }
  return rows;
}

namespace {

struct timed_point {
  const results::tuning_point* values;
  const cell* of;
  double ms;  // on the baseline's device
};

// The values of two parameters, and the fastest point that has them.
struct pair_map {
  std::size_t across, down;  // which parameters
  std::map<std::pair<std::int64_t, std::int64_t>, const timed_point*> fastest;
  double spread = 1;  // the slowest of these over the fastest
};

std::vector<timed_point> timed_points(const document& d, const results::plugin_record& plugin,
                                      std::size_t problem) {
  std::vector<timed_point> points;
  for (const cell& c : d.cells_of(problem)) {
    if (!is_timed(c) || c.kernel.plugin != plugin.name) continue;
    if (const auto* const point = plugin.tuned.point_of(c.kernel.variant))
      points.push_back({&point->values, &c, d.comparable_ms(c)});
  }
  return points;
}

// The parameters that have several values.
std::vector<std::size_t> varied(const std::vector<timed_point>& points) {
  std::vector<std::size_t> several;
  for (std::size_t i = 0; !points.empty() && i < points.front().values->size(); ++i) {
    const auto is_first = [&](const timed_point& p) {
      return p.values->at(i) == points.front().values->at(i);
    };
    if (!std::ranges::all_of(points, is_first)) several.push_back(i);
  }
  return several;
}

pair_map map_of(const std::vector<timed_point>& points, std::size_t across, std::size_t down) {
  pair_map m{across, down, {}};
  for (const timed_point& p : points) {
    const timed_point*& known = m.fastest[{p.values->at(across).value, p.values->at(down).value}];
    if (known == nullptr || p.ms < known->ms) known = &p;
  }
  const auto ms = [](const auto& entry) { return entry.second->ms; };
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
  for (const timed_point& p : points) best = std::min(best, p.ms);
  for (const auto& [values, point] : m.fastest) {
    const cell& c = *point->of;
    const double percent = 100 * best / point->ms;
    rows.push_back(
        {{"result", r.label},
         {"space", fmt::format("{}: {} and {}, {}", c.kernel.plugin, across, down, problem)},
         {"across", fmt::format("{} {}", across, values.first)},
         {"down", fmt::format("{} {}", down, values.second)},
         {"across_value", values.first},
         {"down_value", values.second},
         {"percent", percent},
         {"text", fmt::format("{:.0f}", percent)},
         {"kernel", c.kernel.name()},
         {"time_text", timed_text(*c.time)}});
  }
}

}  // namespace

chart_rows space_rows(std::span<const named_result> all) {
  chart_rows rows;
  for (const named_result& r : all) {
    const document& d = *r.document;
    for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
      for (const results::plugin_record& plugin : d.plugins) {
        const std::vector<timed_point> points = timed_points(d, plugin, i);
        for (const pair_map& m : maps_of(points))
          add_map(rows, r, problem_name(d.experiment.problems[i]), points, m);
      }
    }
  }
  return rows;
}

}  // namespace kzoo::html
