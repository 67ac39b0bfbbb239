#pragma once
// The head of a results document: what is known before anything runs, and the finished cells of an
// interrupted run.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

results::document head_of(const plan& p);
// Of the first problem that takes the simulator long; "": none does.
std::string long_simulation(const plan& p);

// Moves the finished cells of an interrupted run to `head`, the head of the run that resumes it.
// Throws input::invalid, naming `journal`, unless they are each problem's first cells in the plan.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& journal);

}  // namespace kzoo::run
