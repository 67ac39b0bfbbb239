#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// All of a C that is too large to be compared element by element, by Freivalds' algorithm: on small
// integers, which is exact. C is summed on the device, so that only one number per row is copied.
check freivalds();

}  // namespace kzoo::checks
