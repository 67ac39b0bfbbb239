#pragma once
// An analysis of memory accesses as a page: what is wrong, the lines that cost most, and the source
// with the counts of each line.

#include "os/output.hpp"
#include "xray/counters.hpp"

namespace kzoo::html {

void write_xray_page(const xray::document& d, const text_sink& out);

}  // namespace kzoo::html
