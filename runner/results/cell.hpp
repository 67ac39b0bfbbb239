#pragma once
// One variant on one problem: its verdict, its times, and what explains them.

#include "core/kernel_id.hpp"
#include "core/verdict.hpp"
#include "reference/reference.hpp"
#include "results/conditions.hpp"
#include "results/finding.hpp"
#include "results/launch.hpp"
#include "timing/end_to_end.hpp"
#include "timing/summary.hpp"

#include <kzoo/abi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::results {

struct cell {
  std::size_t problem = 0;  // index into experiment.problems
  std::string device;       // id of the device that it ran on
  kernel_id kernel;
  kzoo_precision declared{};  // 0 likewise
  kzoo::verdict verdict = kzoo::verdict::error;
  std::string reason;
  std::optional<reference::accuracy> accuracy;
  std::optional<reference::error_map> errors;    // of a wrong result, if requested
  std::optional<timing::summary> time;           // only of a cell that passed
  std::optional<timing::summary> hot_time;       // the second time where cold and hot are requested
  std::optional<timing::end_to_end> end_to_end;  // with allocation and copies, if requested
  results::conditions conditions;                // of the device while it was timed
  std::vector<finding> findings;                 // of the additional checks of its tier
  std::vector<launch> launches;                  // of one run; empty for libraries like cuBLAS
};

// Two results of one problem, compared with each other.
struct agreement {
  std::size_t problem = 0;
  std::string a, b;  // as kernel_id::name() has it
  reference::comparison difference;
};

}  // namespace kzoo::results
