#include "compile/run_compiler.hpp"

#include "os/files.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace kzoo::compile {

process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds) {
  process::command_result result =
      process::run_confined(command, {"CCACHE_DISABLE=1"}, {folder}, timeout_seconds);
  if (result.code == 0) return result;
  // As errno and signals are worded, which compilers and assemblers repeat.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNoRoom{
      {{"No space left on device", "the disk is full"},
       {"Disk quota exceeded", "your quota of the disk is used up"},
       {"File size limit exceeded", "files may not become that large (ulimit -f)"}}};
  for (const auto& [words, meaning] : kNoRoom) {
    if (result.output.find(words) == std::string::npos) continue;
    throw not_written(fmt::format(
        "the compiler could not write its output: {}. It writes below {} (XDG_CACHE_HOME) and {} "
        "(TMPDIR); make room there, or name other folders",
        meaning, folder.parent_path().string(), std::filesystem::temp_directory_path().string()));
  }
  return result;
}

}  // namespace kzoo::compile
