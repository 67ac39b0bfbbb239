#pragma once
// Turns counts by place in an analysed library into counts by source line.

#include "xray/collector.hpp"
#include "xray/counters.hpp"

#include <filesystem>
#include <vector>

namespace kzoo::xray {

// The launches with their lines. Merges accesses of a kind at one line that are called from the
// same lines. Throws failure if addr2line cannot be run.
std::vector<launch> with_lines(std::vector<collected_launch> collected,
                               const std::filesystem::path& library);

// The compiler's thread-local flags of initialised variables, as offsets from the library's first
// thread-local variable. By binutils' readelf.
std::vector<kzoo_xray_range> thread_local_guards(const std::filesystem::path& library);

}  // namespace kzoo::xray
