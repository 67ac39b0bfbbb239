#pragma once

#include "checks/check.hpp"

#include <vector>

namespace kzoo::checks {

// The checks of tier paranoid: start this runner under a tool that checks every memory access.
std::vector<check> sanitizers();

}  // namespace kzoo::checks
