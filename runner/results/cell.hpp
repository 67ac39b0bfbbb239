#pragma once
// A variant on a problem: its verdict, its times, and what explains them.

#include "core/kernel_id.hpp"
#include "core/verdict.hpp"
#include "reference/judge.hpp"
#include "results/conditions.hpp"
#include "results/finding.hpp"
#include "results/launch.hpp"
#include "timing/bootstrap.hpp"
#include "timing/end_to_end.hpp"
#include "timing/summary.hpp"

#include <kzoo/abi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::results {

// The distance of a result from an earlier result of its problem.
struct difference {
  std::size_t from = 0;  // position of the earlier result's cell within the problem
  reference::comparison by;
};

// The times of a kernel that runs without pauses until clock and power have settled.
struct sustained {
  timing::summary time;       // a sample for each turn: the mean of its runs, once settled
  double settle_seconds = 0;  // until then, in the longest turn
  bool settled = true;        // in each turn; else the time limit came first
  // Mean power of the device while the samples were taken: `watts` by its energy counter,
  // `reported_watts` by the driver, which averages it. Absent if the driver has none.
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;  // update interval of the counter
  std::string no_energy;       // why there are no watts

  // Joules for one GEMM.
  std::optional<double> joules() const {
    return watts ? std::optional(*watts * time.median_ms / 1000) : std::nullopt;
  }
};

struct cell {
  std::size_t problem = 0;  // index into experiment.problems
  std::string device;       // id of the device that it ran on
  kernel_id kernel;
  kzoo_precision declared{};  // 0: types not supported, or plugin not loaded
  kzoo::verdict verdict = kzoo::verdict::error;
  std::string reason;
  std::string check;  // the failed step of core/step.hpp, or a tier's check; "": no failure
  std::optional<reference::accuracy> accuracy;
  std::optional<reference::error_map> errors;    // of a wrong result, if requested
  std::optional<timing::summary> time;           // only of a cell that passed
  std::optional<timing::summary> hot_time;       // with hot caches, if cold and hot are requested
  std::optional<results::sustained> sustained;   // if requested
  std::optional<timing::end_to_end> end_to_end;  // with allocation and copies, if requested
  results::conditions conditions;                // of the device while it was timed
  std::vector<finding> findings;                 // of the additional checks of its tier
  double judge_seconds = 0, time_seconds = 0;
  std::vector<launch> launches;        // of one run; empty for libraries like cuBLAS
  std::vector<std::string> libraries;  // GEMM libraries that its plugin has loaded
  // The baseline's time over this time: above 1, the cell is faster. Only if both were timed.
  std::optional<timing::ratio> speedup;

  // Bit-identical results of a run form a class, of which only the first is compared.
  std::optional<std::size_t> same_as;   // the first of the class; none: this cell
  std::vector<difference> differences;  // from the first of each earlier class, for the first only
};

// Two results, by the positions of their cells within the problem, a before b.
struct compared_pair {
  std::size_t a = 0, b = 0;
  reference::comparison difference;
};

// Calls f for each pair of compared results, derived from their classes, in the order of b, then a.
void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f);

}  // namespace kzoo::results
