#pragma once
// The checks of all tiers.

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// In the order in which they run.
const std::vector<check>& all_checks();

// Runs a tier's checks of the problem, or of its type and layout. Skips the rest after a hang.
std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c);

}  // namespace kzoo::checks
