#pragma once
// Runs an experiment on several devices at once. A problem's kernels all run on one device, so that
// their times can be compared.
//
// Each device has a rank: a process with its own workers that judges and times. An idle rank gets
// the largest problem left. This process writes the journal and the terminal.

#include "results/document.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kzoo::ranks {

// run::execute on all of p.devices. Reports cells as they finish, problems in the order of the
// experiment. Ends the plan's own workers, since the ranks start theirs.
results::document dispatch(run::plan& p, results::document head, run::observer& watch);

// The process of one rank: the other end of ranks/dispatch.hpp.
//
// Messages between a run on several devices and its ranks are objects with a key "op".
//
//   to a rank      task     document: the head of the results; device, show_errors; index, parts:
//                           which of how many ranks this is
//                  known    line: a finished cell of the next problem, from an interrupted run
//                  problem  index: run this problem
//   from a rank    next     ready for a problem; the previous problem, if any, is finished
//                  starts   kernel
//                  times    kernel, round
//                  cell     line: a finished cell, in the format of the journal
//
// A rank runs one problem at a time, which its messages are about.

using plan_factory =
    std::function<run::plan(const results::document& head, const std::string& device)>;

// Runs the problems that it receives until there are no more. Returns the process's exit code.
int rank_main(const plan_factory& make_plan);

inline constexpr std::string_view kRankCommand = "__rank";

}  // namespace kzoo::ranks
