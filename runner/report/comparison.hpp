#pragma once
// Comparisons and rankings as text.

#include "compare/compare.hpp"
#include "report/page.hpp"

#include <string>
#include <vector>

namespace kzoo::report {

std::string comparison_text(const compare::comparison& c, medium m);
std::string ranking_text(const results::document& d, const std::string& baseline,
                         const std::vector<compare::ranking>& rankings, medium m);

}  // namespace kzoo::report
