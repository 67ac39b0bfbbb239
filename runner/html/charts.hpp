#pragma once
// Which charts a page has, and what they show. The script of the page and svg.py only draw it.

#include "html/page.hpp"
#include "timing/summary.hpp"

#include <cmath>
#include <cstddef>
#include <set>

namespace kzoo::html {

// A chart is there if it has something to say of what the results hold.
struct chosen_chart {
  std::string id;                     // in charts.json
  std::optional<std::string> result;  // the label of the only result that it shows
  std::string title, note;
  std::string axis{};  // what speeds are in
};
// The JSON that page.js draws; empty without charts.
std::string chart_data(std::span<const named_result> all);
// The complete specification of each chart that has something to show before a reader chooses, as
// a JSON object, by the name that the chart has in the page.
std::string chart_specifications(std::span<const named_result> all);

// The names and values of a line of a table; the values are JSON.
using chart_row = std::vector<std::pair<std::string_view, std::string>>;
using chart_rows = std::vector<chart_row>;
std::string json(std::string_view text);
std::string json(double number);  // null if it is not finite

chart_rows sample_rows(std::span<const named_result> all);
chart_rows agreement_rows(std::span<const named_result> all);
// The corners of the roofs.
chart_rows roof_rows(std::span<const named_result> all);
// The error maps, character by character.
chart_rows error_rows(std::span<const named_result> all);
// For each problem, plugin and pair of parameters, and each pair of their values: the fastest point
// that has them, in percent of the speed of the fastest of all points. What differs most by the
// pair comes first. Empty where no result has two parameters with several values.
chart_rows space_rows(std::span<const named_result> all);
bool has_space(const results::document& d);

// "1.43 ms", "1.43 ms, stopped early".
std::string timed_text(const timing::summary& time);

// Heights of plots in charts.json, in pixels: labels at the ends of lines are kept apart in them.
inline constexpr double kLinesHeight = 340, kRooflineHeight = 320;

// A cell in the charts: its place, its colour, and the place of its label.
struct plotted {
  bool fastest = false;               // of its plugin's variants on the problem
  std::optional<timing::ratio> gain;  // of a step of a ladder over the step before it
  std::string tone = "other";         // or as tones_of() says
  std::string sweep;  // what its problem has beside its size, where it is timed at several sizes
  double bar = NAN;   // percent of the baseline's speed if all of the result have one, else GFLOP/s
  double low = NAN, high = NAN;  // of the bar's 95 % interval
  bool from_zero = true;         // false where the speeds of a problem are within a factor of 2
  // Where the label of a line or of its last point stands: GFLOP/s, percent, GFLOP/s.
  double rate_label = NAN, relative_label = NAN, roofline_label = NAN;
};
using plotted_cells = std::map<const results::cell*, plotted>;
plotted_cells plot(std::span<const named_result> all);
// Both take what plot() returns.
std::vector<chosen_chart> choose_charts(std::span<const named_result> all, plotted_cells how);
chart_rows cell_rows(std::span<const named_result> all, plotted_cells how);

// Fewer make no chart of dots.
inline constexpr std::size_t kFewestDots = 3;

// Names of lines: the plugin, with its precision if it was timed in several.
class series_names {
 public:
  explicit series_names(const results::document& d);
  std::string of(const results::cell& c) const;

 private:
  std::map<std::string, std::set<kzoo_precision>> precisions_;  // of each plugin
};
// The colours of the series that have their own: "baseline"; "a" to "d" for the authors', or for
// the fastest plugin's where there are none.
std::map<std::string, std::string> tones_of(const results::document& d);

// Whether all that is timed is compared with a baseline.
bool is_compared(const results::document& d);

// The positions, moved so that they are at least so far apart, in their order and as little as that
// takes.
std::vector<double> moved_apart(const std::vector<double>& at, double least);

}  // namespace kzoo::html
