#pragma once
// Comparisons and rankings as text.

#include "compare/compare.hpp"
#include "report/page.hpp"

#include <string>
#include <vector>

namespace kzoo::report {

// What changed of one plugin: a row for each of its kernels on each problem that both runs have.
table change_table(const compare::comparison& c, const std::string& plugin);
std::string comparison_text(const compare::comparison& c, const view& v);
std::string ranking_text(const results::document& d, const std::string& baseline,
                         const std::vector<compare::ranking>& rankings, const view& v);

}  // namespace kzoo::report
