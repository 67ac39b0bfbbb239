#pragma once
// Runs a program under Nsight Compute's command line tool, ncu.

#include "core/problem.hpp"
#include "profile/counters.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::profile {

// ncu was not found, or cannot read counters. what() includes a remedy.
class no_counters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct tool {
  std::string program, version;
  std::vector<std::string> arguments;  // given by the user, passed on unchanged
  double timeout_seconds = 600;        // for one cell, including all replay passes

  // Whether the user has given this option, as `--name value` or `--name=value`.
  bool has_option(const std::string& option) const;
};

// `asked`; if "", the first found in PATH, /usr/local/cuda and /opt/nvidia. Throws no_counters.
tool find_tool(const std::string& asked);

// The complete command line of ncu. A user's option replaces the default.
std::vector<std::string> command_of(const tool& ncu, const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& target);

// Runs `target`, a command line from profiled_command(), confined under ncu. Omits metrics that
// ncu does not know. Throws no_counters, and failure when the target fails.
counters collect(const tool& ncu, std::vector<std::string> metrics,
                 const std::vector<std::string>& target);

// The process of a cell under a profiler: this executable, with a hidden first argument. The
// profiled range holds exactly one run, whose result is not judged.
inline constexpr std::string_view kProfiledCommand = "__profiled";

struct profiled_cell {
  std::string file, device;
  std::uint32_t variant = 0;  // in the plugin's table
  kzoo::problem problem;
  int warmup = 0;  // runs before the profiled run
};

// The command line that starts `program`, a runner, for the cell.
std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell);

// Throws failure unless the output shows a complete run. `how_ended`: if there is no reply.
void check_profiled(const std::string& output, const std::string& how_ended);

// The main function of the process. `cell`: its last argument.
int profiled_main(std::string_view cell);

}  // namespace kzoo::profile
