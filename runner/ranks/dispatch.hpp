#pragma once
// Runs an experiment on several devices at once. All kernels of a problem run on the same device,
// so that their times can be compared.
//
// Each device has a rank: a process that, like a run on a single device, has its own workers,
// judges and times. A rank that is idle gets the next problem, the largest first. Results are sent
// to this process, which writes the journal and the terminal.

#include "results/document.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"

namespace kzoo::ranks {

// As run::execute, on all of p.devices. Cells are reported in the order in which they finish,
// problems in the order of the experiment. Ends the plan's own workers, since the ranks start
// theirs.
results::document dispatch(run::plan& p, results::document head, run::observer& watch);

}  // namespace kzoo::ranks
