#pragma once

#include "results/results.hpp"

#include <string>
#include <vector>

namespace kzoo::cli {

// In which conditions two runs of one experiment differ, a sentence each: its text and overrides,
// the device, its driver and runtime, kernel-zoo itself, the plugins' files.
std::vector<std::string> changes_between(const results::document& then,
                                         const results::document& now);

}  // namespace kzoo::cli
