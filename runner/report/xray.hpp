#pragma once
// What an analysis counted: kernels side by side, and the source with its counts.

#include "report/page.hpp"
#include "xray/counters.hpp"

#include <string>

namespace kzoo::report {

void add_xray(page& p, const xray::document& d);
// The lines of every kernel's source, annotated.
void add_xray_lines(page& p, const xray::document& d);

// "global load 4 B: 4096 requests, 4.00 sectors each (ideal 4.00)"
std::string counts_text(const xray::line_counts& l);

}  // namespace kzoo::report
