#pragma once
// The kernels that a reader looks for, each by its best variant: the authors' with the baseline, or
// all where none of theirs ran.

#include "report/focus.hpp"
#include "report/page.hpp"

namespace kzoo::report {

// With a subject a row for each problem; with one problem a row for each plugin; else plugins down
// and problems across, with the speedup over the baseline, or GFLOP/s; without times what the
// checks found.
table focus_table(const results::document& d, const focus& f, const view& v);

}  // namespace kzoo::report
