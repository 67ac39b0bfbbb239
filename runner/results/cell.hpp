#pragma once
// One variant on one problem: its verdict, its times, and what explains them.

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

// How far a result is from an earlier one of its problem.
struct difference {
  std::size_t from = 0;  // the position of that result's cell among those of the problem
  reference::comparison by;
};

// The times of a kernel that runs again and again, without pauses, until clock and power have
// settled.
struct sustained {
  timing::summary time;       // a sample for each turn: the mean of its runs, once settled
  double settle_seconds = 0;  // until then, in the longest turn
  bool settled = true;        // in each turn; else the time limit came first
  // The mean power of the device while the samples were taken, by its energy counter; and by the
  // power that the driver reports, which it averages itself. Absent where the driver has none.
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;  // how often the counter was updated
  std::string no_energy;       // why there are no watts

  // Joules for one product.
  std::optional<double> joules() const {
    return watts ? std::optional(*watts * time.median_ms / 1000) : std::nullopt;
  }
};

struct cell {
  std::size_t problem = 0;  // index into experiment.problems
  std::string device;       // id of the device that it ran on
  kernel_id kernel;
  kzoo_precision declared{};  // 0 likewise
  kzoo::verdict verdict = kzoo::verdict::error;
  std::string reason;
  std::string check;  // what found that it fails: of core/step.hpp, or of a tier's; "": nothing has
  std::optional<reference::accuracy> accuracy;
  std::optional<reference::error_map> errors;    // of a wrong result, if requested
  std::optional<timing::summary> time;           // only of a cell that passed
  std::optional<timing::summary> hot_time;       // the second time where cold and hot are requested
  std::optional<results::sustained> sustained;   // if requested
  std::optional<timing::end_to_end> end_to_end;  // with allocation and copies, if requested
  results::conditions conditions;                // of the device while it was timed
  std::vector<finding> findings;                 // of the additional checks of its tier
  double judge_seconds = 0, time_seconds = 0;    // that it cost
  std::vector<launch> launches;                  // of one run; empty for libraries like cuBLAS
  std::vector<std::string> libraries;            // for matrix products, that its plugin has loaded
  // The baseline's time over this one's: above 1, the cell is faster. Only where both were timed.
  std::optional<timing::ratio> speedup;

  // Results that are bit-identical form a class, and only the first of each is compared with the
  // others: for_each_pair() has the pairs that follow. Only results of one run are compared.
  std::optional<std::size_t> same_as;   // the first of the class; none: it is this one
  std::vector<difference> differences;  // from the first of each earlier class, for the first only
};

// Two results, by the positions of their cells among those of the problem, a before b.
struct compared_pair {
  std::size_t a = 0, b = 0;
  reference::comparison difference;
};

// Calls f for each pair of results that were compared, which follows from the classes in the cells,
// in the order of b, then of a.
void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f);

}  // namespace kzoo::results
