#pragma once

#include "input/diagnostics.hpp"

#include <string_view>

namespace kzoo::experiment {

// Adds errors to `report` for what the TOML parser must not be given, or would answer in words that
// do not help: letters outside quotes, and nesting so deep that it would overflow the stack. All
// other mistakes are left to the parser.
void check_syntax(std::string_view text, input::diagnostics& report);

}  // namespace kzoo::experiment
