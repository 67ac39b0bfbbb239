#pragma once
// Parses `ncu --csv --page raw`: other lines, column names, units, a row for each kernel launch.

#include "profile/counters.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// Nothing if the output has no such page. A value that is not a number ("n/a") is left out.
std::optional<std::vector<launch>> read_raw_page(const std::string& output);

}  // namespace kzoo::profile
