#pragma once
// Searches for the cause of a wrong result: sizes that decide, and wrong memory accesses
// (simulator). Tier paranoid also checks the accesses of right kernels.

#include "checks/candidate.hpp"
#include "results/document.hpp"
#include "run/plan.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::run {

// Thread-safe if each thread passes a plugin of its own.
class fault_search {
 public:
  fault_search(const find_access_analysis& find, checks::expected_results& expected)
      : find_(find), expected_(expected) {}

  // For a kernel that fails on the problem: the sizes at which it is right, if size decides. Then
  // wrong memory accesses with their source lines, or none, on the smallest failing problem. Empty
  // if nothing can be found out, or if this run's searches have taken long.
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

}  // namespace kzoo::run
