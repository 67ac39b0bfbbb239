#pragma once
// The cells that an interrupted run had finished: they are taken over, not run again.

#include "results/document.hpp"
#include "run/plan.hpp"

namespace kzoo::run {

// Moves the cells of the interrupted run to `head`, the head of the run that continues it. Throws
// input::invalid unless those of each problem are the first ones that the plan has for it; errors
// refer to the interrupted run as `place`.
void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& place);

}  // namespace kzoo::run
