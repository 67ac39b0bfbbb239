#pragma once
// Looks closer at a kernel that is wrong: at which sizes it is, and in the simulator what is wrong
// in its memory accesses, such as a race. In tier paranoid at the accesses of every kernel.

#include "checks/candidate.hpp"
#include "results/cell.hpp"
#include "run/plan.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::run {

// Its functions may be called by several threads, each with a plugin of its own.
class fault_search {
 public:
  fault_search(const find_access_analysis& find, checks::expected_results& expected)
      : find_(find), expected_(expected) {}

  // Of a kernel that fails on the problem: at which sizes it is right, if they decide; then what is
  // wrong in its memory accesses, with the lines of source, or that nothing is, on the smallest
  // problem on which it is found wrong. Nothing of these where it cannot be found out, or the
  // searches of this run have taken long.
  std::vector<results::finding> of(loaded_plugin& plugin, const checks::candidate_description& who);
  // Of the memory accesses of a simulated kernel that is right, on a small problem: for tier
  // paranoid. Skipped, with the reason, if it cannot be analysed.
  results::finding check(loaded_plugin& plugin, const checks::candidate_description& who);
  // The same as of() for a cell that failed: adds the findings, and what they say to the reason.
  void explain(results::cell& c, loaded_plugin& plugin, const checks::candidate_description& who);

 private:
  std::vector<results::finding> search(loaded_plugin& plugin,
                                       const checks::candidate_description& who);

  using kind = std::tuple<std::string, std::string, layout>;  // kernel, types

  const find_access_analysis& find_;
  checks::expected_results& expected_;
  std::mutex mutex_;  // of what follows
  std::map<kind, std::vector<results::finding>> known_;
  double seconds_ = 0;
};

}  // namespace kzoo::run
