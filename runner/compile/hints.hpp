#pragma once
// Sentences about why a source does not compile, where the compiler's own words do not say it.

#include <string>
#include <string_view>

namespace kzoo::compile {

// A line for each, or "". `file`: how the source is named in them.
std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view compiler_output);

}  // namespace kzoo::compile
