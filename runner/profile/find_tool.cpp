// Finds ncu, which the CUDA toolkit contains but PATH may not. Declared in profile/ncu.hpp.

#include "process/command.hpp"
#include "profile/ncu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

namespace kzoo::profile {
namespace {

namespace fs = std::filesystem;

// In order of preference; of several versions in /opt the newest first.
std::vector<std::string> usual_places() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator("/opt/nvidia/nsight-compute", ignored))
    found.push_back((version.path() / "ncu").string());
  std::ranges::sort(found, std::ranges::greater{});
  found.insert(found.begin(), {"ncu", "/usr/local/cuda/bin/ncu"});
  return found;
}

// The output of --version; nothing if the program cannot be started.
std::optional<process::command_result> ask(const std::string& program) {
  constexpr double kSeconds = 60;
  try {
    return process::run_command({program, "--version"}, {}, kSeconds);
  } catch (const std::system_error&) {
    return {};
  }
}

// "Version 2025.3.0.0 (build …)".
std::string version_in(const std::string& output) {
  std::istringstream in(output);
  for (std::string word; in >> word;)
    if (word == "Version" && in >> word) return word;
  return "";
}

}  // namespace

tool find_tool(const std::string& asked) {
  const std::vector<std::string> places =
      asked.empty() ? usual_places() : std::vector<std::string>{asked};
  for (const std::string& place : places) {
    const auto answer = ask(place);
    if (!answer) continue;
    const std::string version = version_in(answer->output);
    if (answer->code != 0 || version.empty()) {
      throw no_counters(fmt::format("{} is not Nsight Compute's ncu, or does not work: {}", place,
                                    answer->output.substr(0, answer->output.find('\n'))));
    }
    return {place, version, {}};
  }
  if (!asked.empty()) throw no_counters(fmt::format("{} cannot be started", asked));
  throw no_counters(
      "there is no ncu (Nsight Compute) in PATH, /usr/local/cuda/bin or /opt/nvidia. It comes with "
      "the CUDA toolkit, as the package nsight-compute; pass its path with --ncu.");
}

}  // namespace kzoo::profile
