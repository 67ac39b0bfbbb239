#pragma once

#include "results/document.hpp"

#include <string>

namespace kzoo::report {

// One line for each cell, below a line with the columns' names: RFC 4180, but with \n as line end.
// Numbers are written with enough digits to be read back exactly; unknown values are empty.
std::string csv(const results::document& d);

}  // namespace kzoo::report
