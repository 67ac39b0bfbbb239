#pragma once
// Counts of profile and xray as tables, with a row for each launch, problem by problem.

#include "profile/ncu.hpp"
#include "report/page.hpp"
#include "xray/counters.hpp"

#include <string>

namespace kzoo::report {

void add_profile(page& p, const profile::document& d);

// short_kernel_name(), at a length that fits a table.
std::string kernel_text(const std::string& demangled);

void add_xray(page& p, const xray::document& d);
// The lines of every kernel's source, annotated.
void add_xray_lines(page& p, const xray::document& d);

// "global load 4 B: 4096 requests, 4.00 sectors each (ideal 4.00)"
std::string counts_text(const xray::line_counts& l);

}  // namespace kzoo::report
