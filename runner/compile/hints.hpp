#pragma once
// Sentences about why a source does not compile, where the compiler's own words do not say it.

#include "compile/needed_code.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compile {

// A line for each, or "". `file`: how the source is named in them.
std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view compiler_output);

// About what could not be left out of a source for its kernels' sake.
std::string host_code_hints(std::string_view file, const needed_code& code,
                            std::string_view compiler_output);

// About headers that were left out.
std::string missing_header_notes(std::string_view file, const std::vector<std::string>& headers);

}  // namespace kzoo::compile
