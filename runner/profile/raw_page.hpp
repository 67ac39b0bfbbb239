#pragma once
// Parses the output of `ncu --csv --page raw`: among other lines, a row of column names, one of
// units, and one for each kernel launch.

#include "profile/counters.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// Nothing if the output has no such page. A value that is not a number ("n/a") is left out.
std::optional<std::vector<launch>> read_raw_page(const std::string& output);

}  // namespace kzoo::profile
