#pragma once
// What `ncu --csv --page raw` prints: among other lines a row of column names, one of units, and
// one for each kernel.

#include "profile/counters.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// Nothing where there is no such page. What is no number ("n/a") is no metric of its launch.
std::optional<std::vector<launch>> read_raw_page(const std::string& output);

}  // namespace kzoo::profile
