#pragma once
// Tables with one axis of the experiment down and one across: [pivot] of an experiment file.

#include "results/results.hpp"

#include <string>

namespace kzoo::report {

// One table for each combination of what is on neither axis.
std::string pivot_tables(const results::document& d, const experiment::pivot& p, bool colour);

}  // namespace kzoo::report
