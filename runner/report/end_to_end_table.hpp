#pragma once
// End-to-end times, by phase: a row for each kernel that has them.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>

namespace kzoo::report {

// Has no rows if the experiment does not ask for end-to-end times.
table end_to_end_table(const results::document& d, std::size_t problem, const view& v);

}  // namespace kzoo::report
