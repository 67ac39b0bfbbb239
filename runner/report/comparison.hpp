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

// "mine: 4 pass, 1 unsupported; 256x256x256 f32 12.1 ms, 16.0 % less time than before". `before`
// may be null. The time is the longest problem's; the change is the geometric mean over cells timed
// in both. Simulated kernels have no change.
std::string change_line(const results::document& now, const results::document* before,
                        const std::string& plugin);

// Whether no cell of the plugin failed, and one passed.
bool all_right(const results::document& d, const std::string& plugin);

}  // namespace kzoo::report
