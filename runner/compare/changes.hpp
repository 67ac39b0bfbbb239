#pragma once

#include "results/document.hpp"

#include <string>
#include <vector>

namespace kzoo::compare {

// One sentence for each difference in the conditions of two runs of an experiment: its text and
// overrides, the device, driver and CUDA runtime, kernel-zoo's version, the plugins' files.
std::vector<std::string> changes_between(const results::document& then,
                                         const results::document& now);

}  // namespace kzoo::compare
