#pragma once
// The map of a wrong C, under the reason.

#include "referee/referee.hpp"

#include <optional>
#include <string>

namespace kzoo::report {

// Whole lines, indented; "" where there is none.
std::string error_text(const std::optional<referee::error_map>& errors);

}  // namespace kzoo::report
