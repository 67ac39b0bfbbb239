#pragma once
// Judges the variants on one problem: each against the reference and against all others.

#include "checks/check.hpp"
#include "devices/nvml.hpp"
#include "results/document.hpp"
#include "run/cell_timer.hpp"
#include "run/fault_search.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::run {

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

  // Returns the finished cell, without times. `position`: its place among the problem's cells. A
  // kernel that fails after another in its worker gets a second chance in a new worker.
  results::cell judge(loaded_plugin& plugin, const selected_variant& variant, std::size_t position);
  // Adds the findings of fault_search to a failed cell.
  void explain(results::cell& c, loaded_plugin& plugin, const selected_variant& variant);
  // Returns what timing needs for a cell that passed.
  timed_cell timed_cell_for(loaded_plugin& plugin, const selected_variant& variant,
                            results::cell& c);

 private:
  // A judged result. Bit-identical results are copied and judged once.
  struct judged_result {
    std::uint64_t digest;
    kzoo_precision declared;
    bool right;
    reference::accuracy accuracy;
    reference::result result;
  };
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
