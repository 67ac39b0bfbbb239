#pragma once
// What the charts plot, as CSV. Each table has a line of names first. All figures are those of the
// reports: the page itself computes none.

#include "html/named_result.hpp"

#include <span>
#include <string>

namespace kzoo::html {

// "1.43 ms", "1.43 ms, stopped early".
std::string timed_text(const timing::summary& time);

// The columns of report/csv.hpp for each cell, and what only charts need.
std::string cells_table(std::span<const named_result> all);
// Every sample of every cell: its cell, round, time and clock.
std::string samples_table(std::span<const named_result> all);
// Pairs of kernels of each result.
std::string agreement_table(std::span<const named_result> all);
// The corners of the roofs.
std::string roofs_table(std::span<const named_result> all);
// The error maps, line by line.
std::string errors_table(std::span<const named_result> all);

}  // namespace kzoo::html
