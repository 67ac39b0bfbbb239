#pragma once
// What is wrong in the memory accesses of a simulated kernel, such as a race: where its results are
// wrong, and in tier paranoid of every one.

#include "checks/candidate.hpp"
#include "results/cell.hpp"
#include "run/plan.hpp"

#include <map>
#include <optional>
#include <string>

namespace kzoo::run {

class access_search {
 public:
  access_search(const find_access_analysis& find, checks::expected_results& expected)
      : find_(find), expected_(expected) {}

  // Analyses the smallest problem on which the kernel is wrong as well, or else its own. Returns
  // what was found, with the lines of source, or that nothing was; nothing if it cannot be
  // analysed, or the searches of this run have taken long.
  std::optional<results::finding> of(loaded_plugin& plugin,
                                     const checks::candidate_description& who);
  // Of a simulated kernel that is right, on a small problem: for tier paranoid. Skipped, with the
  // reason, if it cannot be analysed.
  results::finding check(loaded_plugin& plugin, const checks::candidate_description& who);
  // The same as of() for a cell that is wrong: adds the finding, and what it says to the reason.
  void explain(results::cell& c, loaded_plugin& plugin, const checks::candidate_description& who);

 private:
  problem smallest_wrong(client::plugin_client& client,
                         const checks::candidate_description& who) const;

  const find_access_analysis& find_;
  checks::expected_results& expected_;
  std::map<std::string, results::finding> known_;  // by kernel; where something was found
  double seconds_ = 0;
};

}  // namespace kzoo::run
