#pragma once
// The checks of all tiers.

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// In the order in which they run.
const std::vector<check>& all_checks();

// Runs those of a tier: the ones about the current problem, or the ones about its element type and
// layout. After a hang the rest is skipped.
std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c);

}  // namespace kzoo::checks
