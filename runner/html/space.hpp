#pragma once
// The space that a kernel is tuned over, two parameters at a time.

#include "html/named_result.hpp"

#include <span>
#include <string>

namespace kzoo::html {

// For each problem, plugin and pair of parameters, and each pair of their values: the fastest point
// that has them, in percent of the speed of the fastest of all points. What differs most by the
// pair comes first. Empty where no result has two parameters with several values.
std::string space_table(std::span<const named_result> all);
bool has_space(const results::document& d);

}  // namespace kzoo::html
