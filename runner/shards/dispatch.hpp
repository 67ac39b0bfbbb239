#pragma once
// A run on several devices at once: each problem on one of them, so that its kernels are compared
// on the same one.
//
// Each device has a process, a part of the run, which is to it what this one is to a run on one
// device: it keeps workers, judges and times. A part that is free gets the next problem, the
// largest first. Results come back here, where the journal and the terminal are.

#include "results/document.hpp"
#include "run/execution.hpp"
#include "run/finished_cells.hpp"
#include "run/plan.hpp"

namespace kzoo::shards {

// As run::execute, on all of p.devices. Cells are told in the order in which they finish, problems
// in that of the experiment. The plan's own workers end: the parts have theirs.
results::document dispatch(run::plan& p, results::document head, const run::finished_cells& before,
                           run::observer& watch);

}  // namespace kzoo::shards
