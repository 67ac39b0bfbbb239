#pragma once
// The head of the results: what is known before anything runs.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <string>

namespace kzoo::run {

results::document head_of(const plan& p);

// Moves the finished cells of an interrupted run to `head`, the head of the run that resumes it.
// Throws input::invalid unless those of each problem are the first ones that the plan has for it;
// errors refer to the interrupted run as `place`.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& place);

// The current time as results store it: ISO 8601.
std::string utc_now();

}  // namespace kzoo::run
