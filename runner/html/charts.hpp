#pragma once
// Which charts a page has: those that have something to say of what its results hold.

#include "html/named_result.hpp"

#include <span>
#include <string>
#include <vector>

namespace kzoo::html {

struct chosen_chart {
  std::string id;      // in charts.json
  std::string result;  // the label of the one that it shows; "": of all
  std::string title, note;
  std::string axis{};  // what speeds are in
};
std::vector<chosen_chart> choose_charts(std::span<const named_result> all);
// The same as a table.
std::string charts_table(std::span<const named_result> all);

}  // namespace kzoo::html
