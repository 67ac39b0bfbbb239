#include "compile/run_compiler.hpp"

#include "devices/devices.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kzoo::compile {
namespace {

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;
constexpr std::uint64_t kLongestFile = kGigabyte / 2;

// Of the memory that is free now most, but not more than any kernel is known to take: one that has
// no end is given up in seconds, and not when the machine begins to swap.
std::uint64_t most_memory() {
  constexpr double kShare = 0.8;
  constexpr std::uint64_t kEnough = 16 * kGigabyte;
  const double free = double(devices::free_memory(devices::find("cpu")));
  return std::min(kEnough, static_cast<std::uint64_t>(kShare * free));
}

process::confinement confined_to(const std::filesystem::path& folder, double seconds) {
  const std::uint64_t memory = most_memory();
  return {.writable = {folder},
          .data_bytes = memory,
          .held_bytes = memory,
          .file_bytes = kLongestFile,
          .cpu_seconds = seconds,
          .kept_output = 20000,
          .most_processes = process::enough_processes(),
          .shares_memory = false,
          .variables = {// Compilers, linkers, and where they find headers and libraries.
                        "CC", "CXX", "CUDACXX", "CUDAHOSTCXX", "NVCC_*", "CPATH", "C_INCLUDE_PATH",
                        "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_*", "LDFLAGS",
                        "CFLAGS", "CXXFLAGS", "CUDAFLAGS", "CUDAARCHS",
                        // CMake, and where it finds packages.
                        "CMAKE_*", "NINJA_STATUS", "PKG_CONFIG_*", "CONDA_PREFIX", "VIRTUAL_ENV",
                        "*_ROOT", "*_DIR", "*_HOME"}};
}

// As errno, signals, compilers, assemblers and linkers word it.
struct said {
  std::string_view part, meaning;
};
constexpr std::array kNoRoom{said{"No space left on device", "the disk is full"},
                             said{"Disk quota exceeded", "your quota of the disk is used up"}};
constexpr std::string_view kTooLong = "File size limit exceeded";
constexpr std::array kNoMemory{"out of memory allocating", "virtual memory exhausted",
                               "memory exhausted", "Cannot allocate memory", "std::bad_alloc"};
constexpr std::array kNoTime{"CPU time limit exceeded", "signal 24", "SIGXCPU"};

bool has_any(const std::string& output, const auto& list) {
  return std::ranges::any_of(list, [&](std::string_view part) { return has_part(output, part); });
}

// Which limit a compiler ran into that ended by itself; "": none.
std::string exceeded_in(const process::command_result& result, const process::confinement& c) {
  constexpr int kSignalled = 128;
  if (has_part(result.output, kTooLong))
    return fmt::format("wrote a file of more than {:.1f} GB", double(c.file_bytes) / 1e9);
  if (has_any(result.output, kNoMemory))
    return fmt::format("needed more than {:.1f} GB of memory", double(c.data_bytes) / 1e9);
  if (result.code == kSignalled + SIGXCPU || has_any(result.output, kNoTime))
    return fmt::format("took more than {:g} seconds of processor time", c.cpu_seconds);
  return "";
}

}  // namespace

process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds) {
  const process::confinement confined = confined_to(folder, timeout_seconds);
  process::command_result result =
      process::run_confined(command, {"CCACHE_DISABLE=1"}, confined, timeout_seconds);
  if (std::string text = printable_lines(result.output); !text.empty())
    result.output = std::move(text) + '\n';
  if (result.code == 0) return result;
  rlimit own{};
  getrlimit(RLIMIT_FSIZE, &own);
  std::string_view no_room;
  for (const auto& [part, meaning] : kNoRoom)
    if (has_part(result.output, part)) no_room = meaning;
  if (own.rlim_cur < kLongestFile && has_part(result.output, kTooLong))
    no_room = "files may not become that large (ulimit -f)";
  if (!no_room.empty()) {
    throw not_written(fmt::format(
        "the compiler could not write its output: {}. It writes below {} (XDG_CACHE_HOME) and {} "
        "(TMPDIR); make room there, or name other folders",
        no_room, folder.parent_path().string(), temporary_files().string()));
  }
  if (result.exceeded.empty() && !result.hung) result.exceeded = exceeded_in(result, confined);
  return result;
}

}  // namespace kzoo::compile
