#pragma once
// Runs a cell in its own process for a profiler: this executable, with a hidden first argument. The
// profiled range holds exactly one run, whose result is not judged.

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
  int warmup = 0;  // runs before the profiled run
};

// The command line that starts `program`, a runner, for the cell.
std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell);

// Throws failure unless the output shows a complete run. `how_ended`: if there is no reply.
void check_profiled(const std::string& output, const std::string& how_ended);

// The main function of the process. `cell`: its last argument.
int profiled_main(std::string_view cell);

}  // namespace kzoo::client
