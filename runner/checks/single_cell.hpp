#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// What every cell of an experiment goes through, as a check for `validate`: it runs once on the
// current problem, then repeatedly as for timing; each distinct result is judged.
check runs_and_repeats();

}  // namespace kzoo::checks
