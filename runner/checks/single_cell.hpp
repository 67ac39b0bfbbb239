#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// The usual runs of a cell, as a check for `validate`: one run on the current problem, then
// repeated runs as for timing. Judges each distinct result.
check runs_and_repeats();

}  // namespace kzoo::checks
