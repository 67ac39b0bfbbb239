#include "core/problem.hpp"
#include "html/charts.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

// Calls f with each cell, its result and its number in the page.
void for_each_cell(std::span<const named_result> all,
                   const std::function<void(const named_result&, const cell&, double number)>& f) {
  double number = 0;
  for (const named_result& r : all)
    for (const cell& c : r.document->cells) f(r, c, number++);
}

// "44.8x as fast", "3.1 % faster", "2.0 % slower", "tie".
std::string gain_text(const timing::ratio& gain) {
  if (gain.tie()) return "tie";
  if (gain.value >= 2) return number_text(gain.value) + "x as fast";
  const double percent = 100 * (gain.value - 1);
  return fmt::format("{:.1f} % {}", std::abs(percent), percent < 0 ? "slower" : "faster");
}

chart_row cell_row(const named_result& r, const cell& c, double number, const plotted& how) {
  const document& d = *r.document;
  const problem& p = d.problem_of(c);
  const bool timed = is_timed(c);
  const auto rate = timed ? d.gflops(c) : std::nullopt;
  // Without an interval, that of the figure alone.
  const bool sure = timed && c.speedup && c.speedup->likely;
  const double percent = timed && c.speedup ? 100 * c.speedup->value : NAN;
  const double allowed = c.accuracy ? 100 * c.accuracy->worst_of_allowed : 0;
  double low = NAN, high = NAN, median = c.time ? timing::median_mhz(*c.time) : 0;
  for (const double mhz : c.time ? c.time->sm_mhz.unpacked() : std::vector<double>()) {
    if (mhz <= 0) continue;
    low = std::fmin(low, mhz);
    high = std::fmax(high, mhz);
  }
  return {{"cell", json(number)},
          {"result", json(r.label)},
          {"kernel", json(c.kernel.name())},
          {"plugin", json(c.kernel.plugin)},
          {"precision", json(c.declared == 0 ? "" : precision_name(c.declared))},
          {"problem", json(problem_name(p))},
          {"k", json(double(p.k))},
          {"size", json(std::cbrt(double(p.m) * double(p.n) * double(p.k)))},
          {"sweep", json(timed ? how.sweep : "")},
          {"tone", json(how.tone)},
          {"rate", json(rate.value_or(NAN))},
          {"rate_text", json(rate ? number_text(*rate) : "")},
          {"time_text", json(timed ? timed_text(*c.time) : "")},
          {"percent", json(percent)},
          {"percent_low", json(sure ? 100 * c.speedup->likely->low : percent)},
          {"percent_high", json(sure ? 100 * c.speedup->likely->high : percent)},
          {"bar", json(how.bar)},
          {"bar_from", json(how.from_zero ? 0 : how.bar)},
          {"bar_low", json(how.low)},
          {"bar_high", json(how.high)},
          {"speedup_text", json(timed ? report::speedup_text(d, c) : "")},
          {"fastest", json(how.fastest ? "yes" : "")},
          {"gain_text", json(how.gain ? gain_text(*how.gain) : "")},
          {"rate_label", json(how.rate_label)},
          {"relative_label", json(how.relative_label)},
          {"roofline_label", json(how.roofline_label)},
          {"intensity", json(timed && d.peak_of(c) ? roofline::intensity_of(*d.peaks, p) : NAN)},
          {"share_of_peak", json(d.share_of_peak(c).value_or(NAN))},
          {"error_text", json(report::accuracy_text(d, c))},
          {"percent_of_allowed", json(allowed > 0 && c.verdict == verdict::pass ? allowed : NAN)},
          {"watts", json(c.conditions.watts.value_or(NAN))},
          {"sm_mhz", json(median > 0 ? median : NAN)},
          {"sm_mhz_low", json(low)},
          {"sm_mhz_high", json(high)},
          {"clock_reasons", json(fmt::format("{}", fmt::join(c.conditions.clock_reasons, ", ")))}};
}

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
      rows.push_back(
          {{"result", json(r.label)},
           {"precision", json(precision_name(precision))},
           {"intensity", json(x)},
           {"rate", json(std::min(peak, x * memory) / 1e9)},
           {"text", json(fmt::format("{}, memory {}", text, quantity_text(memory, "B/s")))},
           {"name", json(x == *corners.rbegin() && is_last ? names : "")}});
    }
    if (is_last) names.clear();
  }
}

std::string_view meaning_of(char c) {
  return c == '.'   ? "right"
         : c == '#' ? "all wrong"
         : c == 'o' ? "not written"
         : c == 'N' ? "not finite"
                    : "partly wrong";
}

}  // namespace

std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '<' ? "\\u003c" : std::string(1, c);  // which would end the element in a page
  }
  return out + '"';
}

std::string json(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

std::string timed_text(const timing::summary& time) {
  return time_text(time.median_ms) + (time.stopped_early() ? ", stopped early" : "");
}

chart_rows cell_rows(std::span<const named_result> all, plotted_cells how) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result& r, const cell& c, double number) {
    rows.push_back(cell_row(r, c, number, how[&c]));
  });
  return rows;
}

chart_rows sample_rows(std::span<const named_result> all) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result&, const cell& c, double number) {
    if (!is_timed(c)) return;
    const timing::summary& time = *c.time;
    for (std::size_t i = 0; i < time.samples_ms.size(); ++i) {
      const double mhz = i < time.sm_mhz.size() ? time.sm_mhz[i] : 0;
      rows.push_back({{"cell", json(number)},
                      {"round", json(double(time.rounds[i] + 1))},
                      {"ms", fmt::format("{:.6g}", time.samples_ms[i])},
                      {"mhz", mhz > 0 ? fmt::format("{:.0f}", mhz) : "null"}});
    }
  });
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
        rows.push_back({{"result", json(r.label)},
                        {"row", json(double(a + 1))},
                        {"column", json(double(b + 1))},
                        {"kernel", json(m.names[a])},
                        {"other", json(m.names[b])},
                        {"percent", json(std::min(100.0, 100 * worst.of_allowed))},
                        {"text", json(report::agreement_field(worst).text)},
                        {"kind", json(!agree                  ? "differ"
                                      : worst.of_allowed == 0 ? "bit-identical"
                                                              : "agree")}});
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

chart_rows error_rows(std::span<const named_result> all) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result& r, const cell& c, double number) {
    if (!c.errors) return;
    const reference::error_map& map = *c.errors;
    const std::string name = fmt::format("{}{} on {}", all.size() > 1 ? r.label + ": " : "",
                                         c.kernel.name(), problem_name(r.document->problem_of(c)));
    const auto high = double(map.rows_per_line), wide = double(map.columns_per_character);
    for (std::size_t y = 0; y < map.picture.size(); ++y) {
      for (std::size_t x = 0; x < map.picture[y].size(); ++x) {
        rows.push_back({{"cell", json(number)},
                        {"map", json(name)},
                        {"row", json(double(y) * high)},
                        {"row_end", json(double(y + 1) * high)},
                        {"column", json(double(x) * wide)},
                        {"column_end", json(double(x + 1) * wide)},
                        {"kind", json(meaning_of(map.picture[y][x]))}});
      }
    }
  });
  return rows;
}

namespace {

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
