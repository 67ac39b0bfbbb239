#pragma once
// Compares two runs, and the kernels of a run. Joins the results of an experiment's shards.

#include "os/enums.hpp"
#include "results/document.hpp"
#include "timing/summary.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compare {

// `declined`: passed before, and is unsupported or unavailable now. `uncertain`: the interval
// includes the threshold, or there is no interval. `broken`, `repaired`: the verdict changed from
// pass to a failure, or back. `failing`: a failure in both. `added`, `gone`: cells of a single run,
// except for cells rejected before.
enum class change {
  slower,
  broken,
  declined,
  faster,
  repaired,
  uncertain,
  same,
  failing,
  added,
  gone
};
constexpr std::string_view names_of(change) {
  return "slower, broken, declined, faster, repaired, uncertain, same, failing, new, gone";
}

struct pair {
  const results::cell *before = nullptr, *after = nullptr;
  compare::change change{};
  std::optional<timing::ratio> time;  // after over before, if both were timed
};

struct comparison {
  const results::document &before, &after;
  double threshold;         // 0.03: changes below 3 % do not count
  std::vector<pair> pairs;  // in the order of `after`, then the cells that are gone

  std::size_t count(compare::change c) const;
  // Whether a cell is slower (with its whole interval beyond the threshold), broken or declined.
  bool regressed() const {
    return count(change::slower) + count(change::broken) + count(change::declined) > 0;
  }
  const problem& problem_of(const pair& p) const {
    return p.after != nullptr ? after.problem_of(*p.after) : before.problem_of(*p.before);
  }
};

// Both documents must outlive the result.
comparison compare(const results::document& before, const results::document& after,
                   double threshold);

// Why times cannot be compared, e.g. different devices or CUDA runtimes, if they cannot.
std::optional<std::string> incomparable(const results::document& before,
                                        const results::document& after);

// A sentence for each difference between two runs of an experiment: its text and overrides, the
// device, driver and CUDA runtime, kernel-zoo's version, the plugins' files.
std::vector<std::string> changes_between(const results::document& then,
                                         const results::document& now);

struct place {
  const results::cell* cell;
  timing::ratio speed;  // the baseline's time over this time: above 1 is faster
  bool is_baseline = false;
};

struct ranking {
  std::size_t problem;        // index into experiment.problems
  std::vector<place> places;  // the fastest first
};

// A ranking for each problem on which `baseline`, a selector, was timed. Ranks all cells with the
// same clock. The first cell that matches the selector counts.
std::vector<ranking> rank(const results::document& d, const std::string& baseline);

// The results of an experiment's shards: runs of some of its problems, on several machines.
struct shard_results {
  std::string name;
  results::document results;
};

struct merged {
  std::vector<results::document> by_device;  // a single document, unless several devices are
                                             // allowed
  // Problems without all their cells: "512x512x512 f32: naive:8x8, smem:16x16".
  std::vector<std::string> missing;
};

// "NVIDIA H200, driver 580.159, CUDA runtime 13.0": results must agree in this to share a table.
std::string device_words(const results::device& d);

// `shards`: at least one; interrupted shards may lack cells. Throws input::invalid for shards with
// different experiments, plugin files or kernel-zoo versions, for a problem in two shards and,
// unless `by_device`, for different devices.
merged merge(std::vector<shard_results> shards, bool by_device);

}  // namespace kzoo::compare
