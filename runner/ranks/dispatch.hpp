#pragma once
// Runs an experiment on several devices at once. A problem's kernels all run on one device, so that
// their times can be compared.
//
// Each device has a rank: a process with its own workers that judges and times. An idle rank gets
// the largest problem left. This process writes the journal and the terminal.

#include "results/document.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"

namespace kzoo::ranks {

// run::execute on all of p.devices. Reports cells as they finish, problems in the order of the
// experiment. Ends the plan's own workers, since the ranks start theirs.
results::document dispatch(run::plan& p, results::document head, run::observer& watch);

}  // namespace kzoo::ranks
