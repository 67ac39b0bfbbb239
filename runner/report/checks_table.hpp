#pragma once
// What the checks found of each kernel, over all problems.

#include "report/table.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// A row for each kernel with its verdicts, its largest rounding error and its agreement with the
// others; those that decline every problem are left out.
table checks_table(const results::document& d);

}  // namespace kzoo::report
