#include "core/problem.hpp"
#include "html/charts.hpp"
#include "report/focus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

// Everything of a problem but its size, which its name begins with; of one that is no cube, its
// shape too, to powers of two: "f32, 8:1:8".
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

double rate_of(const document& d, const cell& c) { return d.gflops(c).value_or(NAN); }
double percent_of(const document&, const cell& c) {
  return c.speedup ? 100 * c.speedup->value : NAN;
}

// Fills in the gains of the steps among the fastest of a problem.
void add_gains(const named_result& r, const std::vector<const cell*>& fastest, plotted_cells& all) {
  const report::focus f = report::focus_of(*r.document);
  const cell* before = nullptr;
  for (const cell* c : fastest) {
    const auto step = r.steps.find(c->kernel.plugin);
    if (step == r.steps.end() || f.is_own(c->kernel.plugin)) continue;
    if (before != nullptr && r.steps.at(before->kernel.plugin) == step->second)
      all[c].gain = r.document->ratio_of(*before, *c);
    before = c;
  }
}

void add_bars(const document& d, std::size_t problem, const std::vector<const cell*>& fastest,
              plotted_cells& all) {
  const bool compared = is_compared(d);
  double lowest = INFINITY, highest = 0;
  for (const cell& c : d.cells_of(problem)) {
    if (!is_timed(c)) continue;
    plotted& p = all[&c];
    const double half = std::isnan(c.time->relative_half_width) ? 0 : c.time->relative_half_width;
    p.bar = compared ? percent_of(d, c) : rate_of(d, c);
    p.low = p.bar / (1 + half);
    p.high = half < 1 ? p.bar / (1 - half) : p.bar;
    if (compared && c.speedup->likely) {
      p.low = 100 * c.speedup->likely->low;
      p.high = 100 * c.speedup->likely->high;
    }
  }
  for (const cell* c : fastest) {
    lowest = std::min(lowest, all[c].bar);
    highest = std::max(highest, all[c].bar);
  }
  for (const cell& c : d.cells_of(problem))
    if (is_timed(c)) all[&c].from_zero = lowest < highest / 2;
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

struct drawn_cell {
  const named_result* result;
  const cell* of;
};
using value_of = std::function<double(const document&, const cell&)>;

// A plot whose lines, or last points, have labels beside them.
struct labelled_plot {
  value_of value;
  double height;
  bool others;     // whether all lines have labels
  double highest;  // what else is drawn in it reaches so far
  double plotted::*label;
};

// Where the labels stand: at the last point of each line, kept apart.
void add_labels(const std::vector<drawn_cell>& cells, const labelled_plot& plot,
                plotted_cells& all) {
  constexpr double kBetween = 16, kAround = 24;  // pixels
  std::map<std::tuple<const named_result*, std::string, kzoo_precision>, const cell*> last;
  double lowest = INFINITY, highest = plot.highest;
  for (const auto& [result, c] : cells) {
    const double at = plot.value(*result->document, *c);
    if (!std::isfinite(at)) continue;
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
    const cell*& known = last[{result, c->kernel.plugin, c->declared}];
    const auto size = [&](const cell& of) { return result->document->problem_of(of).flops(); };
    if (known == nullptr || size(*c) >= size(*known)) known = c;
  }
  std::vector<std::pair<double, const cell*>> ends;
  for (const auto& [line, c] : last)
    ends.emplace_back(plot.value(*std::get<0>(line)->document, *c), c);
  if (!plot.others || double(ends.size()) * kBetween > plot.height)
    std::erase_if(ends, [&](const auto& e) { return all[e.second].tone == "other"; });
  std::ranges::sort(ends);
  const double between = kBetween * (highest - lowest) / (plot.height - kAround);
  // Lines of one plugin in two precisions that end in one place share a label.
  std::vector<std::pair<double, const cell*>> kept;
  for (const auto& end : ends) {
    const bool shared = std::ranges::any_of(kept, [&](const auto& k) {
      return k.second->kernel.plugin == end.second->kernel.plugin && end.first - k.first < between;
    });
    if (!shared) kept.push_back(end);
  }
  std::vector<double> at;
  for (const auto& e : kept) at.push_back(e.first);
  at = moved_apart(at, between);
  for (std::size_t i = 0; i < kept.size(); ++i) all[kept[i].second].*plot.label = at[i];
}

// The logarithm of the highest peak in GFLOP/s that a roof is drawn at.
double roof_of(const document& d) {
  double highest = 0;
  for (const cell& c : d.cells)
    if (is_timed(c)) highest = std::max(highest, d.peak_of(c).value_or(0) / 1e9);
  return std::log(highest);
}

void add_all_labels(std::span<const named_result> results, plotted_cells& all) {
  std::map<std::string, std::vector<drawn_cell>> by_sweep;
  for (const named_result& r : results) {
    std::vector<drawn_cell> fastest;
    for (const cell& c : r.document->cells) {
      if (!is_timed(c) || !all[&c].fastest) continue;
      fastest.push_back({&r, &c});
      if (!all[&c].sweep.empty()) by_sweep[all[&c].sweep].push_back({&r, &c});
    }
    const auto logarithm = [](const document& d, const cell& c) { return std::log(rate_of(d, c)); };
    add_labels(fastest,
               {logarithm, kRooflineHeight, false, roof_of(*r.document), &plotted::roofline_label},
               all);
    for (const drawn_cell& c : fastest)
      all[c.of].roofline_label = std::exp(all[c.of].roofline_label);
  }
  for (const auto& [sweep, cells] : by_sweep) {
    add_labels(cells, {rate_of, kLinesHeight, true, 0, &plotted::rate_label}, all);
    add_labels(cells, {percent_of, kLinesHeight, true, 0, &plotted::relative_label}, all);
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

plotted_cells plot(std::span<const named_result> all) {
  plotted_cells found;
  for (const named_result& r : all) {
    const document& d = *r.document;
    const std::set<std::string> sweeps = sweeps_of(d);
    const auto tones = tones_of(d);
    const series_names series(d);
    for (std::size_t problem = 0; problem < d.experiment.problems.size(); ++problem) {
      std::vector<const cell*> fastest = report::best_of_each(d, problem);
      std::erase_if(fastest, [](const cell* c) { return !is_timed(*c); });
      for (const cell* c : fastest) found[c].fastest = true;
      add_gains(r, fastest, found);
      add_bars(d, problem, fastest, found);
      const std::string family = family_of(d.experiment.problems[problem]);
      for (const cell& c : d.cells_of(problem)) {
        const auto tone = tones.find(series.of(c));
        if (tone != tones.end()) found[&c].tone = tone->second;
        if (sweeps.contains(family)) found[&c].sweep = family;
      }
    }
  }
  add_all_labels(all, found);
  return found;
}

std::vector<double> moved_apart(const std::vector<double>& at, double least) {
  // Groups that stand at equal distances, each round the mean of where its members want to be.
  struct group {
    double sum;  // of the places of the first one that the members ask for
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
