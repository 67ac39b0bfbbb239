#pragma once

#include "process/command.hpp"
#include "source/files.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compile {

// A compiler, or what calls it, runs whatever a source's options or a CMakeLists.txt name: it is
// confined, and can write only what it makes, in this folder; ccache could not write its own. Its
// output is made printable and shortened. The limit that it ran into is in `exceeded`, also where
// it ended by itself. Throws not_written where there is no room for what it writes, which is no
// fault of the source.
process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds);

// Sentences about why a source does not compile, where the compiler's own words do not say it.

// A line for each, or "". `file`: how the source is named in them.
std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view compiler_output);

// About what could not be left out of a source for its kernels' sake.
std::string host_code_hints(std::string_view file, const source::needed_code& code,
                            std::string_view compiler_output);

// About headers that were left out.
std::string missing_header_notes(std::string_view file, const std::vector<std::string>& headers);

}  // namespace kzoo::compile
