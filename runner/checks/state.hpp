#pragma once

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// Checks that a run depends on nothing but its arguments, on the current problem.
std::vector<check> checks_of_state();

}  // namespace kzoo::checks
