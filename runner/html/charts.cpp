#include "html/charts.hpp"

#include "report/agreement.hpp"
#include "report/focus.hpp"

#include <algorithm>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

// Whether values are far enough apart for an axis.
bool span_an_axis(const std::set<double>& values) {
  return !values.empty() && *values.rbegin() >= 1.9 * *values.begin();
}

// "% of cublas:fp32".
std::string percent_axis(const document& d) { return "% of " + report::baseline_name(d); }
// The axis of several results, which may have different baselines.
std::string percent_axis(std::span<const named_result> results) {
  std::set<std::string> axes;
  for (const named_result& r : results)
    if (r.document->experiment.baseline) axes.insert(percent_axis(*r.document));
  return axes.size() == 1 ? *axes.begin() : "% of the baseline of each result";
}
std::string bars_axis(const document& d) { return is_compared(d) ? percent_axis(d) : "GFLOP/s"; }

// The most plugins that were timed on one problem.
std::size_t most_timed(const document& d) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto best = report::best_of_each(d, i);
    most = std::max(
        most, std::size_t(std::ranges::count_if(best, [](const cell* c) { return is_timed(*c); })));
  }
  return most;
}

// What the charts of one result follow from.
struct contents {
  // The first two are of the authors' plugins, where there are some.
  bool timed = false, sweep = false, compared = false, gains = false, wrong = false;
  bool clocks_differ = false, power_capped = false, errors_over_k = false;
  std::set<double> intensities;
};
contents contents_of(const named_result& r, plotted_cells& how) {
  contents found;
  std::set<double> clocks, ks;
  const document& d = *r.document;
  const report::focus focus = report::focus_of(d);
  for (const cell& c : d.cells) {
    found.wrong = found.wrong || c.errors.has_value();
    if (c.verdict == verdict::pass && c.accuracy && c.accuracy->worst_of_allowed > 0)
      ks.insert(double(d.problem_of(c).k));
    if (!is_timed(c)) continue;
    const plotted& p = how[&c];
    if (focus.own.empty() || focus.is_own(c.kernel.plugin)) {
      found.timed = true;
      found.sweep = found.sweep || !p.sweep.empty();
    }
    found.compared = found.compared || (d.experiment.baseline && !p.sweep.empty() && c.speedup &&
                                        p.tone != "baseline");
    found.gains = found.gains || p.gain.has_value();
    found.power_capped = found.power_capped || (c.conditions.power_capped() && c.conditions.watts);
    if (const double mhz = timing::median_mhz(*c.time); mhz > 0) clocks.insert(mhz);
    if (d.peak_of(c)) found.intensities.insert(roofline::intensity_of(*d.peaks, d.problem_of(c)));
  }
  constexpr double kSteady = 1.02;
  found.clocks_differ = !clocks.empty() && *clocks.rbegin() > kSteady * *clocks.begin();
  if (!focus.subject.empty()) found.power_capped = false;  // its table has that
  found.errors_over_k = span_an_axis(ks);
  const auto ran = std::ranges::count_if(
      d.cells, [](const cell& c) { return !is_declined(c.verdict) && !is_failure(c.verdict); });
  if (std::size_t(ran) < kFewestDots) {
    found.clocks_differ = found.power_capped = found.errors_over_k = false;
    found.intensities.clear();
  }
  return found;
}

void add_speeds(std::vector<chosen_chart>& all, const named_result& r, const contents& has) {
  const document& d = *r.document;
  // Two kernels over several sizes are in the next charts.
  const std::size_t timed = most_timed(d);
  if (!has.timed || timed < 2 || (timed == 2 && has.sweep)) return;
  const std::string note =
      std::string("The fastest variant of each plugin, with the 95 % interval; beside it GFLOP/s") +
      (d.experiment.baseline ? " and the speedup." : ".");
  const char* const gains =
      has.gains ? " On the right: each step against the one before it on its ladder." : "";
  all.push_back({"speed", r.label, has.gains ? "The ladder" : "Speed", note + gains, bars_axis(d)});
}

bool disagrees(const document& d) {
  const report::agreed all = report::agreement_of_all(d);
  return all.agreeing < all.pairs && report::agreement_of(d).names.size() <= report::kLargestMatrix;
}

}  // namespace

std::vector<chosen_chart> choose_charts(std::span<const named_result> results, plotted_cells how) {
  std::vector<chosen_chart> all;
  std::vector<contents> each;
  for (const named_result& r : results) each.push_back(contents_of(r, how));
  // Adds a chart of all results together.
  const auto add = [&](bool contents::*wanted, const char* id, const char* title, const char* note,
                       const std::string& axis = "") {
    if (std::ranges::any_of(each, wanted)) all.push_back({id, {}, title, note, axis});
  };
  add(&contents::wrong, "errors", "Where C is wrong", "The map of C of each wrong result.");
  const auto add_each = [&](const auto& wanted, const char* id, const char* title,
                            const char* note) {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (wanted(i)) all.push_back({id, results[i].label, title, note});
  };
  add_each([&](std::size_t i) { return has_space(*results[i].document); }, "space",
           "What was tuned",
           "For each pair of values the fastest point that has them, in percent of the fastest of "
           "all; the other parameters are at their best. Empty: no such point was timed.");
  for (std::size_t i = 0; i < results.size(); ++i) add_speeds(all, results[i], each[i]);
  add(&contents::compared, "relative", "Speed over sizes",
      "The fastest variant of each plugin at each size, the cube root of M·N·K, with the 95 % "
      "interval.",
      percent_axis(results));
  add(&contents::sweep, "rate", "Throughput over sizes",
      "The fastest variant of each plugin at each size, the cube root of M·N·K.");
  add_each(
      [&](std::size_t i) { return span_an_axis(each[i].intensities); }, "roofline", "Roofline",
      "The fastest variants at the operations per byte that their problems take at least, with "
      "a cold cache, under the peaks measured on this device.");
  add_each([&](std::size_t i) { return disagrees(*results[i].document); }, "agreement",
           "Which results disagree",
           "Each kernel's results against each other's, the worst over all problems. The stronger "
           "the colour, the larger the difference, in percent of what rounding allows.");
  add(&contents::errors_over_k, "accuracy", "Accuracy over K",
      "The largest error of each kernel that passed, in percent of what rounding allows its "
      "declared precision.");
  add(&contents::clocks_differ, "clock", "SM clock",
      "Of the samples of each cell, in the order of the tables: the median, from the lowest to the "
      "highest.");
  add(&contents::power_capped, "power", "Power", "The highest reading while each cell was timed.");
  add(&contents::timed, "samples", "Samples of a cell",
      "Every sample of the chosen cell, round by round.");
  add(&contents::clocks_differ, "sample-clocks", "SM clock of the samples", "Of the same cell.");
  for (chosen_chart& c : all)
    if (results.size() > 1 && c.result) c.title += ": " + *c.result;
  return all;
}

}  // namespace kzoo::html
