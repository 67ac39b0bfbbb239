#pragma once

#include "results/document.hpp"

#include <string>
#include <vector>

namespace kzoo::compare {

// In which conditions two runs of one experiment differ, a sentence each: its text and overrides,
// the device, its driver and runtime, kernel-zoo itself, the plugins' files.
std::vector<std::string> changes_between(const results::document& then,
                                         const results::document& now);

}  // namespace kzoo::compare
