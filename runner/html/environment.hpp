#pragma once
// What a result was measured with.

#include "report/page.hpp"
#include "results/document.hpp"

namespace kzoo::html {

// The device, the programs, the plugins and the experiment, as tables.
void add_environment(report::page& p, const results::document& d);

}  // namespace kzoo::html
