#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// Judges all of a C that is too large for comparing each element, by Freivalds' algorithm on small
// integers, which is exact. Sums on the device, so that only one number per row is copied.
check freivalds();

}  // namespace kzoo::checks
