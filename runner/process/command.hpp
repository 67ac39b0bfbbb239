#pragma once
// Another program, run to its end.

#include <string>
#include <vector>

namespace kzoo::process {

struct command_result {
  int code = 0;        // its exit code, or 128 + the signal that ended it
  bool hung = false;   // it was killed at the deadline
  std::string output;  // stdout and stderr
};

// `argv[0]` is looked up in PATH; `settings` ("NAME=value") are added to the environment. Throws
// std::system_error where it cannot be started, interrupt::interrupted when a signal came.
command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds);

}  // namespace kzoo::process
