#pragma once
// Runs an experiment on several devices at once. A problem's kernels run on one device, or are
// divided among several. Each of these times the baseline, too, so that speedups are ratios of
// times on one device.
//
// Each device has a rank: a process with its own workers that judges and times. An idle rank gets
// the longest share left (ranks/schedule.hpp). Ranks of one problem compare their results with each
// other's. This process writes the journal and the terminal.

#include "results/document.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace kzoo::ranks {

// run::execute on all of p.devices. Reports cells as they finish, those of a divided problem at its
// end; problems in the order of the experiment. Ends the plan's own workers, since the ranks start
// theirs.
results::document dispatch(run::plan& p, results::document head, run::observer& watch);

// The process of one rank: the other end of ranks/dispatch.hpp.
//
// Messages between a run on several devices and its ranks are objects with a key "op".
//
//   to a rank      task     document: the head of the results; device, show_errors; index, parts:
//                           which of how many ranks this is; key: of checks::expected_results
//                  known    line: a finished cell of the next problem, from an interrupted run
//                  share    problem, index, count: run this share of a problem
//                  others   results: results that other ranks have of this problem, new to this
//                           rank; each as in judged
//   from a rank    next     ready for a share; the previous one, if any, is finished
//                  starts   kernel
//                  baseline kernel, digest, right: its result in this share of a problem
//                  judged   kernel, digest, declared, right; begin, end: its place in a file,
//                           which is descriptor fd of the process. The reply is: others
//                  times    kernel, round
//                  cell     line: a finished cell, in the format of the journal. Its relations to
//                           other cells may be to those of other ranks
//
// A rank runs one share at a time, which its messages are about.

using plan_factory =
    std::function<run::plan(const results::document& head, const std::string& device)>;

// Runs the shares that it receives until there are no more. Returns the process's exit code.
int rank_main(const plan_factory& make_plan);

inline constexpr std::string_view kRankCommand = "__rank";

// The place that errors in a message name.
inline constexpr const char* kFromRank = "a message from a rank";

// Opens the file of results that a message names, of the process that sent it. Returns -1 if that
// has ended.
int open_results(const nlohmann::json& message);

}  // namespace kzoo::ranks
