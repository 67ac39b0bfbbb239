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

// The rows of other tables. Tables of samples and error maps have one row for each cell, with
// lists.
chart_rows sample_rows(const std::vector<plotted>& cells);
chart_rows error_rows(const std::vector<plotted>& cells, bool several_results);
chart_rows agreement_rows(std::span<const named_result> all);
// The corners of the roofs.
chart_rows roof_rows(std::span<const named_result> all);
// A row for each problem, plugin, pair of parameters and pair of their values: the fastest point
// with these values, in percent of the fastest point's speed. Pairs with the largest differences
// come first. Empty if no result has two parameters with several values.
chart_rows space_rows(std::span<const named_result> all);

// The useful charts for these results: their descriptions, with "id", with "result" (the label) if
// they show a single result, and with "axis" for speeds.
std::vector<json> choose_charts(std::span<const named_result> all,
                                const std::vector<plotted>& cells);
// The JSON that page.js draws; empty without charts.
std::string chart_data(std::span<const named_result> all);
// The complete specifications, as a JSON object by the charts' names in the page, of charts that
// are not empty before a reader chooses.
std::string chart_specifications(std::span<const named_result> all);
// The description of a chart in charts.json.
const json& chart_description(const std::string& id);

// "1.43 ms", "1.43 ms, stopped early".
std::string timed_text(const timing::summary& time);

// The least number of dots for a chart.
inline constexpr std::size_t kFewestDots = 3;

// Names of lines: the plugin, with its precision if it was timed in several.
class series_names {
 public:
  explicit series_names(const results::document& d);
  std::string of(const results::cell& c) const;

 private:
  std::map<std::string, std::set<kzoo_precision>> precisions_;  // by plugin
};
// The colours of the series that have their own: "baseline"; "a" to "d" for the authors', or for
// the fastest plugin's where there are none.
std::map<std::string, std::string> tones_of(const results::document& d);

// Whether all timed cells are compared with a baseline.
bool is_compared(const results::document& d);

// The positions, moved as little as possible so that they are at least `least` apart, in the same
// order.
std::vector<double> moved_apart(const std::vector<double>& at, double least);

}  // namespace kzoo::html
