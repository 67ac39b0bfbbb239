#pragma once
// What tuning has come to: the fastest kernel of each problem, and what it took to find it.

#include "report/page.hpp"
#include "results/document.hpp"

namespace kzoo::report {

void add_tuned(page& p, const results::document& d);

}  // namespace kzoo::report
