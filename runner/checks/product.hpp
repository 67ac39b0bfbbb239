#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// What every cell of an experiment goes through, on the current problem: runs once, then repeatedly
// as for timing; each distinct result is judged.
check product();

}  // namespace kzoo::checks
