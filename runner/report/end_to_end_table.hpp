#pragma once
// From the host's memory to the host's memory, part by part: a row for each kernel that has it.

#include "report/table.hpp"
#include "results/document.hpp"

#include <cstddef>

namespace kzoo::report {

// Has no rows where the experiment does not ask for it.
table end_to_end_table(const results::document& d, std::size_t problem);

}  // namespace kzoo::report
