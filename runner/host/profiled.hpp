#pragma once
// One cell in a process for a profiler: this same executable, started with a hidden first argument.
// What the profiler is told to watch is one run of the variant and nothing else; its result is not
// judged.

#include "core/problem.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::host {

inline constexpr std::string_view kProfiledCommand = "__profiled";

struct profiled_cell {
  std::string file, device;
  std::uint32_t variant = 0;  // in the plugin's table
  kzoo::problem problem;
  int warmup = 0;  // runs before the one that is watched
};

// How to start `program`, a runner.
std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell);

// The process begins its last line with this.
inline constexpr std::string_view kProfiledMark = "kernel-zoo profiled: ";

// Throws failure unless the process, by what it has printed, did all that it was to do. `how_ended`
// is for one that had no last word.
void check_profiled(const std::string& output, const std::string& how_ended);

// The process. `cell` is the last word of profiled_command().
int profiled_main(std::string_view cell);

}  // namespace kzoo::host
