#pragma once
// What only charts need of a cell: where it is drawn, in which colour, and where its label stands.

#include "html/named_result.hpp"
#include "timing/bootstrap.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kzoo::html {

// Heights of plots in charts.json, in pixels: labels at the ends of lines are kept apart in them.
inline constexpr double kLinesHeight = 340, kRooflineHeight = 320;

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

// Fewer make no chart of dots.
inline constexpr std::size_t kFewestDots = 3;

// What a line is of: a plugin, in one precision where it was timed in several.
class series_names {
 public:
  explicit series_names(const results::document& d);
  std::string of(const results::cell& c) const;

 private:
  std::map<std::string, std::set<kzoo_precision>> precisions_;  // of each plugin
};
// The colours of those that have one of their own: "baseline"; "a" to "d" for the authors', or for
// the fastest plugin's where there are none.
std::map<std::string, std::string> tones_of(const results::document& d);

// Whether all that is timed is compared with a baseline.
bool is_compared(const results::document& d);

// The positions, moved so that they are at least so far apart, in their order and as little as that
// takes.
std::vector<double> moved_apart(const std::vector<double>& at, double least);

}  // namespace kzoo::html
