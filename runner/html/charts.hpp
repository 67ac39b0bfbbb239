#pragma once
// Chooses the charts of a page and their data. The page's script and svg.py only draw them.
//
// configs/templates/page/charts.json describes each chart: its words, the table that it shows, the
// fields that a row needs, what a reader chooses, and its Vega-Lite specification. Rows are JSON
// objects, all of a table with the same fields; null, "" and [] are missing values.

#include "html/page.hpp"
#include "timing/summary.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace kzoo::html {

using json = nlohmann::ordered_json;
using chart_rows = std::vector<json>;

bool is_missing(const json& value);
// A number; null if it is not finite.
json number(double x);

// A cell as a row of the charts, with its place, its colour and the places of its labels.
struct plotted {
  const named_result* result;
  const results::cell* cell;
  json row;
};
// The cells of all results, in order.
std::vector<plotted> plot(std::span<const named_result> all);

// The rows of other tables. Of samples and error maps: one for each cell, with lists.
chart_rows sample_rows(const std::vector<plotted>& cells);
chart_rows error_rows(const std::vector<plotted>& cells, bool several_results);
chart_rows agreement_rows(std::span<const named_result> all);
// The corners of the roofs.
chart_rows roof_rows(std::span<const named_result> all);
// For each problem, plugin and pair of parameters, and each pair of their values: the fastest point
// that has them, in percent of the speed of the fastest of all points. What differs most by the
// pair comes first. Empty where no result has two parameters with several values.
chart_rows space_rows(std::span<const named_result> all);

// The charts that have something to say of what the results hold: their descriptions with the
// "id", and where they show a single result its label as "result"; speeds are in "axis".
std::vector<json> choose_charts(std::span<const named_result> all,
                                const std::vector<plotted>& cells);
// The JSON that page.js draws; empty without charts.
std::string chart_data(std::span<const named_result> all);
// The complete specification of each chart that has something to show before a reader chooses, as
// a JSON object, by the name that the chart has in the page.
std::string chart_specifications(std::span<const named_result> all);
// The description of a chart in charts.json.
const json& chart_description(const std::string& id);

// "1.43 ms", "1.43 ms, stopped early".
std::string timed_text(const timing::summary& time);

// Fewer dots make no chart.
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
