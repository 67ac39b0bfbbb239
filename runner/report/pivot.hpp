#pragma once
// Tables with one axis of the experiment down and one across: [pivot] of an experiment file.

#include "report/page.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// One table for each combination of the values that are on neither axis.
void add_pivot(page& out, const results::document& d, const results::pivot& p);

}  // namespace kzoo::report
