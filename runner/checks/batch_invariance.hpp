#pragma once

#include "checks/check.hpp"

namespace kzoo::checks {

// Whether the bits of a row of C depend on M, which matters when models are served in batches.
// Never fails: "yes", "no" or "up to M = 64", with what was compared.
check batch_invariance();

}  // namespace kzoo::checks
