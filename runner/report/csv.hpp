#pragma once

#include "results/document.hpp"

#include <string>

namespace kzoo::report {

// A line for each cell, under a line with the columns' names (RFC 4180, lines as Unix ends them).
// Numbers are written so that they read back as they were; what is not known is empty.
std::string csv(const results::document& d);

}  // namespace kzoo::report
