#include "core/problem.hpp"
#include "html/charts.hpp"
#include "os/text.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace kzoo::html {
namespace {

using results::cell;
using results::document;

// A problem's name without its size, with its shape rounded to powers of two unless it is a cube:
// "f32, 8:1:8".
std::string family_of(const problem& p) {
  const std::string name = problem_name(p), kind = name.substr(name.find(' ') + 1);
  const auto least = double(std::min({p.m, p.n, p.k}));
  const auto times = [&](std::int64_t size) {
    return std::lround(std::exp2(std::round(std::log2(double(size) / least))));
  };
  const std::array<long, 3> shape{times(p.m), times(p.n), times(p.k)};
  if (std::ranges::count(shape, 1) == 3) return kind;
  return fmt::format("{}, {}", kind, fmt::join(shape, ":"));
}

// The families that are timed at sizes far enough apart for an axis, and at enough of them for a
// line.
std::set<std::string> sweeps_of(const document& d) {
  std::map<std::string, std::set<double>> sizes;
  for (const cell& c : d.cells) {
    const problem& p = d.problem_of(c);
    if (is_timed(c)) sizes[family_of(p)].insert(p.flops());
  }
  std::set<std::string> sweeps;
  constexpr double kFarEnough = 1.9 * 1.9 * 1.9;
  for (const auto& [family, all] : sizes)
    if (all.size() >= kFewestDots && *all.rbegin() >= kFarEnough * *all.begin())
      sweeps.insert(family);
  return sweeps;
}

// "44.8x as fast", "3.1 % faster", "2.0 % slower", "tie".
std::string gain_text(const timing::ratio& gain) {
  if (gain.tie()) return "tie";
  if (gain.value >= 2) return number_text(gain.value) + "x as fast";
  const double percent = 100 * (gain.value - 1);
  return fmt::format("{:.1f} % {}", std::abs(percent), percent < 0 ? "slower" : "faster");
}

// A cell's row with its own values, and empty fields that other functions fill in.
json row_of(const named_result& r, const cell& c, std::size_t position) {
  const document& d = *r.document;
  const problem& p = d.problem_of(c);
  const bool timed = is_timed(c);
  const auto rate = timed ? d.gflops(c) : std::nullopt;
  const double percent = timed && c.speedup ? 100 * c.speedup->value : NAN;
  // Without an interval, the ends are the figure itself.
  const bool sure = timed && c.speedup && c.speedup->likely;
  const double allowed = c.accuracy ? 100 * c.accuracy->worst_of_allowed : 0;
  double low = NAN, high = NAN, median = c.time ? timing::median_mhz(*c.time) : 0;
  for (const double mhz : c.time ? c.time->sm_mhz.unpacked() : std::vector<double>()) {
    if (mhz <= 0) continue;
    low = std::fmin(low, mhz);
    high = std::fmax(high, mhz);
  }
  return {{"cell", position},
          {"result", r.label},
          {"kernel", c.kernel.name()},
          {"plugin", c.kernel.plugin},
          {"precision", c.declared == 0 ? "" : precision_name(c.declared)},
          {"problem", problem_name(p)},
          {"k", p.k},
          {"size", std::cbrt(double(p.m) * double(p.n) * double(p.k))},
          {"sweep", ""},      // the problem without its size, if it is timed at several sizes
          {"tone", "other"},  // or as tones_of() says
          {"rate", number(rate.value_or(NAN))},
          {"rate_text", rate ? number_text(*rate) : ""},
          {"time_text", timed ? timed_text(*c.time) : ""},
          {"percent", number(percent)},
          {"percent_low", number(sure ? 100 * c.speedup->likely->low : percent)},
          {"percent_high", number(sure ? 100 * c.speedup->likely->high : percent)},
          // The bar: percent of the baseline's speed if the whole result has one, else GFLOP/s;
          // with the ends of its 95 % interval.
          {"bar", nullptr},
          {"bar_from", 0},
          {"bar_low", nullptr},
          {"bar_high", nullptr},
          {"speedup_text", timed ? report::speedup_text(d, c) : ""},
          {"fastest", ""},    // "yes": of its plugin's variants on the problem
          {"gain_text", ""},  // a ladder step's gain over the step before it
          // The positions of a line's labels, at its last point.
          {"rate_label", nullptr},
          {"relative_label", nullptr},
          {"roofline_label", nullptr},
          {"intensity", number(timed && d.peak_of(c) ? roofline::intensity_of(*d.peaks, p) : NAN)},
          {"share_of_peak", number(d.share_of_peak(c).value_or(NAN))},
          {"error_text", report::accuracy_text(d, c)},
          {"percent_of_allowed", number(allowed > 0 && c.verdict == verdict::pass ? allowed : NAN)},
          {"watts", number(c.conditions.watts.value_or(NAN))},
          {"sm_mhz", number(median > 0 ? median : NAN)},
          {"sm_mhz_low", number(low)},
          {"sm_mhz_high", number(high)},
          {"clock_reasons", fmt::format("{}", fmt::join(c.conditions.clock_reasons, ", "))}};
}

// The rows of one problem's cells, and the fastest cell of each plugin there.
struct problem_rows {
  const named_result& result;
  std::span<const cell> cells;
  std::span<plotted> rows;  // these cells' rows
  std::vector<const cell*> fastest;

  json& row_of(const cell& c) const { return rows[std::size_t(&c - cells.data())].row; }
};

// Fills in the gains of the steps among the fastest.
void add_gains(const problem_rows& p) {
  const auto& steps = p.result.steps;
  const report::focus f = report::focus_of(*p.result.document);
  const cell* before = nullptr;
  for (const cell* c : p.fastest) {
    const auto step = steps.find(c->kernel.plugin);
    if (step == steps.end() || f.is_own(c->kernel.plugin)) continue;
    if (before != nullptr && steps.at(before->kernel.plugin) == step->second)
      p.row_of(*c)["gain_text"] = gain_text(p.result.document->ratio_of(*before, *c));
    before = c;
  }
}

void add_bars(const problem_rows& p, bool compared) {
  double lowest = INFINITY, highest = 0;
  for (const cell& c : p.cells) {
    if (!is_timed(c)) continue;
    json& row = p.row_of(c);
    const double half = std::isnan(c.time->relative_half_width) ? 0 : c.time->relative_half_width;
    const json& speed = row[compared ? "percent" : "rate"];
    if (is_missing(speed)) continue;
    const auto bar = speed.get<double>();
    const bool has_interval = compared && c.speedup->likely;
    row["bar"] = bar;
    row["bar_low"] = has_interval ? row["percent_low"] : json(bar / (1 + half));
    row["bar_high"] = has_interval ? row["percent_high"] : json(half < 1 ? bar / (1 - half) : bar);
    if (is_missing(row["fastest"])) continue;
    lowest = std::min(lowest, bar);
    highest = std::max(highest, bar);
  }
  // Speeds within a factor of 2 have an axis that does not begin at zero.
  for (const cell& c : p.cells)
    if (json& row = p.row_of(c); is_timed(c) && lowest >= highest / 2) row["bar_from"] = row["bar"];
}

// A plot whose lines, or last points, have labels beside them.
struct labelled_plot {
  const char *chart, *value, *label;  // its id; fields
  bool is_log;
  bool others;         // whether all lines have labels
  double highest = 0;  // what else is drawn in it reaches so far
};

// Places the labels at the last point of each line, without overlaps.
void add_labels(const std::vector<plotted*>& points, const labelled_plot& plot) {
  constexpr double kBetween = 16, kAround = 24;  // pixels
  const double height = chart_description(plot.chart)["spec"]["height"];
  const auto place = [&](double x) { return plot.is_log ? std::log(x) : x; };
  std::map<std::tuple<const named_result*, std::string, kzoo_precision>, plotted*> last;
  double lowest = INFINITY, highest = place(plot.highest);
  for (plotted* p : points) {
    if (is_missing(p->row[plot.value])) continue;
    const double at = place(p->row[plot.value]);
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
    plotted*& known = last[{p->result, p->cell->kernel.plugin, p->cell->declared}];
    const auto size = [](const plotted& one) {
      return one.result->document->problem_of(*one.cell).flops();
    };
    if (known == nullptr || size(*p) >= size(*known)) known = p;
  }
  std::vector<std::pair<double, plotted*>> ends;
  for (const auto& [line, p] : last) ends.emplace_back(place(p->row[plot.value]), p);
  if (!plot.others || double(ends.size()) * kBetween > height)
    std::erase_if(ends, [](const auto& e) { return e.second->row["tone"] == "other"; });
  std::ranges::sort(ends);
  const double between = kBetween * (highest - lowest) / (height - kAround);
  // Lines of one plugin in two precisions that end in one place share a label.
  std::vector<double> at;
  std::vector<plotted*> kept;
  for (const auto& [end, p] : ends) {
    bool shared = false;
    for (std::size_t i = 0; i < kept.size(); ++i)
      shared = shared ||
               (kept[i]->cell->kernel.plugin == p->cell->kernel.plugin && end - at[i] < between);
    if (shared) continue;
    at.push_back(end);
    kept.push_back(p);
  }
  at = moved_apart(at, between);
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i]->row[plot.label] = plot.is_log ? std::exp(at[i]) : at[i];
}

// The highest peak in GFLOP/s that a roof is drawn at.
double roof_of(const document& d) {
  double highest = 0;
  for (const cell& c : d.cells)
    if (is_timed(c)) highest = std::max(highest, d.peak_of(c).value_or(0) / 1e9);
  return highest;
}

void add_all_labels(std::span<const named_result> results, std::vector<plotted>& all) {
  std::map<std::string, std::vector<plotted*>> by_sweep;
  for (const named_result& r : results) {
    std::vector<plotted*> fastest;
    for (plotted& p : all) {
      if (p.result != &r || is_missing(p.row["fastest"])) continue;
      fastest.push_back(&p);
      if (!is_missing(p.row["sweep"])) by_sweep[p.row["sweep"].get<std::string>()].push_back(&p);
    }
    add_labels(fastest, {"roofline", "rate", "roofline_label", true, false, roof_of(*r.document)});
  }
  for (const auto& [sweep, points] : by_sweep) {
    add_labels(points, {"rate", "rate", "rate_label", false, true});
    add_labels(points, {"relative", "percent", "relative_label", false, true});
  }
}

}  // namespace

series_names::series_names(const document& d) {
  for (const cell& c : d.cells)
    if (is_timed(c)) precisions_[c.kernel.plugin].insert(c.declared);
}

std::string series_names::of(const cell& c) const {
  const auto all = precisions_.find(c.kernel.plugin);
  const bool is_one_of_many =
      all != precisions_.end() && all->second.size() > (all->second.contains(c.declared) ? 1 : 0);
  if (c.declared == 0 || !is_one_of_many) return c.kernel.plugin;
  return fmt::format("{} ({})", c.kernel.plugin, precision_name(c.declared));
}

std::map<std::string, std::string> tones_of(const document& d) {
  static constexpr std::array kTones{"a", "b", "c", "d"};
  const report::focus f = report::focus_of(d);
  const series_names series(d);
  std::map<std::string, std::string> tones;
  std::size_t next = 0;
  const auto add = [&](const std::string& plugin) {
    for (const cell& c : d.cells) {
      if (c.kernel.plugin != plugin || is_declined(c.verdict) || next == kTones.size()) continue;
      if (tones.try_emplace(series.of(c), kTones[next]).second) ++next;
    }
  };
  std::ranges::for_each(f.own, add);
  if (const std::size_t main = report::main_problem(d, {}); f.own.empty()) {
    const cell* fastest =
        report::fastest_of(d, main, [&](const cell& c) { return c.kernel.plugin != f.baseline; });
    if (fastest != nullptr) add(fastest->kernel.plugin);
  }
  for (const cell& c : d.cells)
    if (d.experiment.is_baseline(c.kernel.plugin, c.kernel.variant) && !is_declined(c.verdict))
      tones[series.of(c)] = "baseline";
  return tones;
}

bool is_compared(const document& d) {
  return d.experiment.baseline && std::ranges::all_of(d.cells, [](const cell& c) {
           return !is_timed(c) || c.speedup.has_value();
         });
}

std::string timed_text(const timing::summary& time) {
  return time_text(time.median_ms) + (time.stopped_early() ? ", stopped early" : "");
}

std::vector<plotted> plot(std::span<const named_result> all) {
  std::vector<plotted> rows;
  for (const named_result& r : all)
    for (const cell& c : r.document->cells) rows.push_back({&r, &c, row_of(r, c, rows.size())});
  std::size_t first = 0;  // row of the problem
  for (const named_result& r : all) {
    const document& d = *r.document;
    const std::set<std::string> sweeps = sweeps_of(d);
    const auto tones = tones_of(d);
    const series_names series(d);
    const bool compared = is_compared(d);
    for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
      const auto cells = d.cells_of(i);
      problem_rows p{r, cells, std::span(rows).subspan(first, cells.size()),
                     report::best_of_each(d, i)};
      std::erase_if(p.fastest, [](const cell* c) { return !is_timed(*c); });
      first += cells.size();
      const std::string family = family_of(d.experiment.problems[i]);
      for (const cell& c : cells) {
        json& row = p.row_of(c);
        if (const auto tone = tones.find(series.of(c)); tone != tones.end())
          row["tone"] = tone->second;
        if (is_timed(c) && sweeps.contains(family)) row["sweep"] = family;
      }
      for (const cell* c : p.fastest) p.row_of(*c)["fastest"] = "yes";
      add_gains(p);
      add_bars(p, compared);
    }
  }
  add_all_labels(all, rows);
  return rows;
}

std::vector<double> moved_apart(const std::vector<double>& at, double least) {
  // Groups that stand at equal distances, each round the mean of where its members want to be.
  struct group {
    double sum;  // the sum of the places that the members ask for of the first one
    std::size_t count;
    double first() const { return sum / double(count); }
  };
  std::vector<group> groups;
  for (const double wanted : at) {
    groups.push_back({wanted, 1});
    while (groups.size() > 1) {
      const group last = groups.back();
      group& before = groups[groups.size() - 2];
      const double end = before.first() + least * double(before.count);
      if (last.first() >= end) break;
      before.sum += last.sum - least * double(before.count * last.count);
      before.count += last.count;
      groups.pop_back();
    }
  }
  std::vector<double> moved;
  for (const group& g : groups)
    for (std::size_t i = 0; i < g.count; ++i) moved.push_back(g.first() + least * double(i));
  return moved;
}

}  // namespace kzoo::html
