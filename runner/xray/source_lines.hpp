#pragma once
// Counts by place in an analysed library, as counts by line of its source.

#include "xray/collector.hpp"
#include "xray/counters.hpp"

#include <filesystem>
#include <vector>

namespace kzoo::xray {

// The launches with their lines: accesses of a kind at one line, called from the same lines, are
// one. Throws failure if addr2line cannot be run.
std::vector<launch> with_lines(std::vector<collected_launch> collected,
                               const std::filesystem::path& library);

// The compiler's own thread-local variables, which tell whether others have been initialised: where
// they are, from the library's first thread-local variable on. By binutils' readelf.
std::vector<kzoo_xray_range> thread_local_guards(const std::filesystem::path& library);

}  // namespace kzoo::xray
