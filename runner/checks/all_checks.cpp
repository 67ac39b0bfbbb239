#include "checks/all_checks.hpp"

#include "checks/batch_invariance.hpp"
#include "checks/freivalds.hpp"
#include "checks/sanitizers.hpp"
#include "checks/state.hpp"
#include "checks/sweeps.hpp"

namespace kzoo::checks {

const std::vector<check>& all_checks() {
  static const std::vector<check> kAll = [] {
    std::vector<check> all{freivalds()};
    for (const std::vector<check>& more :
         {sweeps(), std::vector{batch_invariance()}, checks_of_state(), sanitizers()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c) {
  std::vector<results::finding> all;
  bool hung = false;
  for (const check& which : all_checks()) {
    if (which.from > t || which.is_about_problem != about_problem || !which.applies_to(c)) continue;
    all.push_back(hung ? skipped_after_hang(which) : run_check(which, c));
    hung = hung || all.back().outcome == results::outcome::hung;
  }
  return all;
}

}  // namespace kzoo::checks
