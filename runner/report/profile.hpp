#pragma once
// The counters of a profile as tables, one line for each kernel launch.

#include "profile/counters.hpp"
#include "report/page.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace kzoo::report {

void add_profile(page& p, const profile::document& d);

// short_kernel_name(), at a length that fits a table.
std::string kernel_text(const std::string& demangled);
// The extent of a grid or a block, "32x16": without trailing ones.
std::string extent_text(std::span<const std::uint32_t> extent);

}  // namespace kzoo::report
