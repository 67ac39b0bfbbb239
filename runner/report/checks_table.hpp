#pragma once
// What the checks found of each kernel, over all problems.

#include "report/table.hpp"
#include "results/document.hpp"

#include <functional>
#include <string>

namespace kzoo::report {

// A row for each kernel with its verdicts, its largest rounding error and its agreement with the
// others; those that decline every problem are left out. `wanted`: of which plugins; none: of all.
table checks_table(const results::document& d,
                   const std::function<bool(const std::string&)>& wanted = {});

}  // namespace kzoo::report
