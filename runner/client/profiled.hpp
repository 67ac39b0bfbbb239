#pragma once
// Runs one cell in a process of its own, for a profiler: this same executable, started with a
// hidden first argument. The profiled range holds exactly one run of the variant; its result is not
// judged.

#include "core/problem.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::client {

inline constexpr std::string_view kProfiledCommand = "__profiled";

struct profiled_cell {
  std::string file, device;
  std::uint32_t variant = 0;  // in the plugin's table
  kzoo::problem problem;
  int warmup = 0;  // runs before the profiled one
};

// The command line that starts `program`, a runner, for the cell.
std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell);

// Throws failure unless the output shows that the process completed the run. `how_ended` describes
// a process that ended without a reply.
void check_profiled(const std::string& output, const std::string& how_ended);

// The main function of that process. `cell`: its last argument.
int profiled_main(std::string_view cell);

}  // namespace kzoo::client
