#pragma once

#include "os/output.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// The verdicts in JUnit's XML, as CI services read it: a suite for each problem, a case for each
// kernel. A kernel that declined is skipped. Cells that an interrupted run left are an error of
// their own.
void write_junit(const results::document& d, const text_sink& out);

}  // namespace kzoo::report
