#pragma once

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// Checks on the current problem that a run depends only on its arguments.
std::vector<check> checks_of_state();

}  // namespace kzoo::checks
