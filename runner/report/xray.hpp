#pragma once
// What an analysis counted: kernels side by side, and the source with its counts.

#include "report/page.hpp"
#include "xray/counters.hpp"

namespace kzoo::report {

void add_xray(page& p, const xray::document& d);
// The lines of every kernel's source, annotated.
void add_xray_lines(page& p, const xray::document& d);

}  // namespace kzoo::report
