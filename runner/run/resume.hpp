#pragma once
// An interrupted run, resumed: its finished cells are taken over.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

// Moves the finished cells of an interrupted run to `head`, the head of the run that resumes it.
// Throws input::invalid unless those of each problem are the first ones that the plan has for it;
// errors refer to the interrupted run as `place`.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& place);

}  // namespace kzoo::run
