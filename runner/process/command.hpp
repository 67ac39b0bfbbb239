#pragma once
// Runs another program until it ends.

#include "process/confinement.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::process {

struct command_result {
  int code = 0;       // its exit code, or 128 + the number of the signal that killed it
  bool hung = false;  // killed at the deadline
  // The limit of its confinement for which it was killed: "needed more than 9.1 GB of memory".
  std::string exceeded;
  std::string output;  // stdout and stderr
};

// `argv[0]` is looked up in PATH; `settings` ("NAME=value") are added to the environment. Throws
// std::system_error if it cannot be started, interrupt::interrupted when a signal arrives.
command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds);

// The same for a command that runs or reads what others wrote. Beside what `confined` names it can
// write in its TMPDIR, a folder of its own that is removed when it has ended.
command_result run_confined(const std::vector<std::string>& argv,
                            const std::vector<std::string>& settings, confinement confined,
                            double timeout_seconds);

// What a signal that has ended a process means to the author of a kernel: "SIGSEGV, an access …".
std::string signal_words(int number);
// Of one that failed: "took 60 seconds and was given up", which limit it exceeded, "ended with code
// 1" or "… with SIGSEGV, …".
std::string how_it_failed(const command_result& result, double timeout_seconds);
// The first line of a compiler's output that tells of an error, else its last one.
std::string first_error_in(const std::string& output);

}  // namespace kzoo::process
