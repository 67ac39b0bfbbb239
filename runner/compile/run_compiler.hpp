#pragma once

#include "process/command.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::compile {

// A compiler, or what calls it, runs whatever a source's options or a CMakeLists.txt name: it is
// confined, and can write only what it makes, in this folder; ccache could not write its own. Its
// output is made printable and shortened. The limit that it ran into is in `exceeded`, also where
// it ended by itself. Throws not_written where there is no room for what it writes, which is no
// fault of the source.
process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds);

}  // namespace kzoo::compile
