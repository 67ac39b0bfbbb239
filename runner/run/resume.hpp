#pragma once
// Resumes an interrupted run: takes over its finished cells.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

// Moves the finished cells of an interrupted run to `head`, the head of the run that resumes it.
// Throws input::invalid, naming `place`, unless they are each problem's first cells in the plan.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& place);

}  // namespace kzoo::run
