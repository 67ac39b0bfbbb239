#pragma once

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// Checks that require right results on a list of problems, once per element type and layout.
std::vector<check> sweeps();

}  // namespace kzoo::checks
