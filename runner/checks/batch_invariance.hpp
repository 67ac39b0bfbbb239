#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// Whether the bits of a row of C depend on how many rows there are, as people who serve models in
// batches ask. It never fails: "yes", "no" or "up to M = 64", with what was compared.
check batch_invariance();

}  // namespace kzoo::checks
