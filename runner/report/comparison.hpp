#pragma once
// Comparisons and rankings as text.

#include "compare/compare.hpp"
#include "report/page.hpp"

#include <string>
#include <vector>

namespace kzoo::report {

// One plugin's changes: a row for each of its kernels on each problem that both runs have.
table change_table(const compare::comparison& c, const std::string& plugin);
std::string comparison_text(const compare::comparison& c, const view& v);
std::string ranking_text(const results::document& d, const std::string& baseline,
                         const std::vector<compare::ranking>& rankings, const view& v);

// "mine: 4 pass, 1 unsupported; 256x256x256 f32 12.1 ms, 16.0 % less time than before". `before`:
// null where there is none. The time is that of the problem that takes longest; the change is the
// geometric mean of the cells that both have timed. Simulated kernels have none.
std::string change_line(const results::document& now, const results::document* before,
                        const std::string& plugin);

// Whether no cell of the plugin failed, and one passed.
bool all_right(const results::document& d, const std::string& plugin);

}  // namespace kzoo::report
