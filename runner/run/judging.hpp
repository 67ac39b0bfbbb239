#pragma once
// Judges the variants on one problem: each against the reference and against all others.

#include "checks/candidate.hpp"
#include "checks/check.hpp"
#include "devices/nvml.hpp"
#include "results/document.hpp"
#include "run/observer.hpp"
#include "run/plan.hpp"
#include "run/timing_rounds.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kzoo::run {

// Searches for the cause of a wrong result: sizes that decide, and wrong memory accesses
// (simulator). Tier paranoid also checks the accesses of right kernels.

// Thread-safe if each thread passes a plugin of its own.
class fault_search {
 public:
  fault_search(const find_access_analysis& find, checks::expected_results& expected)
      : find_(find), expected_(expected) {}

  // Findings on a kernel that fails on the problem: the sizes at which it is right, if size
  // decides; then wrong memory accesses with their source lines, on the smallest failing problem.
  // Empty if nothing is found, or if this run's searches have taken long.
  std::vector<results::finding> of(loaded_plugin& plugin, const checks::candidate_description& who);
  // For tier paranoid: checks the memory accesses of a right simulated kernel on a small problem.
  // Skipped, with the reason, if it cannot be analysed.
  results::finding check(loaded_plugin& plugin, const checks::candidate_description& who);
  // Adds the findings of of() to a failed cell, and to its reason.
  void explain(results::cell& c, loaded_plugin& plugin, const checks::candidate_description& who);

 private:
  std::vector<results::finding> search(loaded_plugin& plugin,
                                       const checks::candidate_description& who);

  using kind = std::tuple<std::string, std::string, layout>;  // kernel, types

  const find_access_analysis& find_;
  checks::expected_results& expected_;
  std::mutex mutex_;  // guards known_ and seconds_
  std::map<kind, std::vector<results::finding>> known_;
  double seconds_ = 0;
};

// State kept from one problem to the next.
struct run_state {
  std::map<std::string, std::string> hung;  // kernel -> the problem at which it hung
  // Findings of checks that run once for each kernel and kind of problem, as resized() groups them.
  using checked = std::pair<std::string, problem>;
  std::map<checked, std::vector<results::finding>> findings;
  std::map<checked, results::finding> accesses_found;  // in tier paranoid
  checks::expected_results& expected_results;
  fault_search faults;

  explicit run_state(const plan& p)
      : expected_results(*p.expected_results), faults(p.find_access_analysis, expected_results) {}
};

class judging {
 public:
  judging(plan& p, std::size_t problem, run_state& r, const devices::nvml& monitor)
      : plan_(p),
        index_(problem),
        problem_(p.experiment.problems[problem]),
        state_(r),
        monitor_(monitor) {}

  // Returns the finished cell, without times. `position`: its index among the problem's cells. A
  // kernel that fails after another in its worker gets a second chance in a new worker.
  results::cell judge(loaded_plugin& plugin, const selected_variant& variant, std::size_t position);
  // The result of the cell that was judged last, if it differs from all earlier ones.
  const judged_result* new_result(const results::cell& c) const {
    const bool is_new =
        !results_.empty() && results_.back().kernel == c.kernel.name() && !c.same_as;
    return is_new ? results_.back().of.get() : nullptr;
  }
  // Adds the findings of fault_search to a failed cell.
  void explain(results::cell& c, loaded_plugin& plugin, const selected_variant& variant);
  // Returns what timing needs for a cell that passed.
  timed_cell timed_cell_for(loaded_plugin& plugin, const selected_variant& variant,
                            results::cell& c);

 private:
  struct variant_result {
    std::string kernel;
    std::size_t position;
    std::shared_ptr<const judged_result> of;
  };

  results::cell new_cell(const loaded_plugin& plugin, const selected_variant& variant) const;
  std::string why_not_precise(kzoo_precision declared) const;
  // Judges in the current worker.
  void judge_in_worker(loaded_plugin& plugin, const selected_variant& variant, std::size_t position,
                       results::cell& c);
  // Replaces a failed cell by its result in a new worker.
  void judge_alone(loaded_plugin& plugin, const selected_variant& variant, std::size_t position,
                   const std::string& before, results::cell& c);
  void require_repeatable(checks::candidate& candidate, results::cell& c) const;
  checks::candidate_description description_of(const loaded_plugin& plugin,
                                               const selected_variant& variant) const;
  void verify(checks::candidate& candidate, results::cell& c, std::size_t position);
  std::shared_ptr<const judged_result> result_of(checks::candidate& candidate,
                                                 const checks::judged_run& run,
                                                 kzoo_precision declared);
  void run_checks(checks::candidate& candidate, results::cell& c);
  void check_accesses(results::cell& c, loaded_plugin& plugin, const selected_variant& variant);
  bool is_trusted(const results::cell& c) const {
    return plan_.trusts_baseline && plan_.experiment.is_baseline(c.kernel.plugin, c.kernel.variant);
  }
  run_state::checked kind_of(const results::cell& c) const {
    return {c.kernel.name(), resized(problem_, 1, 1, 1)};
  }
  // Compares the newest result with the first of each class of earlier results.
  void compare_newest(results::cell& c);

  plan& plan_;
  std::size_t index_;
  const problem& problem_;
  run_state& state_;
  const devices::nvml& monitor_;
  std::vector<variant_result> results_;
};

}  // namespace kzoo::run
