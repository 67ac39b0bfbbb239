#pragma once
// Runs another program until it ends.

#include "os/posix.hpp"
#include "process/confinement.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::process {

struct command_result {
  int code = 0;       // exit code, or 128 + the number of the signal that killed it
  bool hung = false;  // killed at the deadline
  // The limit for which it was killed: "needed more than 9.1 GB of memory".
  std::string exceeded;
  std::string output;  // stdout and stderr
};

// `argv[0]` is looked up in PATH; `settings` ("NAME=value") are added to the environment. Throws
// std::system_error if it cannot be started, interrupt::interrupted when a signal arrives.
command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds);

// Runs a command on what others wrote. It can write where `confined` allows, and in its TMPDIR, a
// private folder that is removed afterwards.
command_result run_confined(const std::vector<std::string>& argv,
                            const std::vector<std::string>& settings, confinement confined,
                            double timeout_seconds);

// Explains a fatal signal to the author of a kernel: "SIGSEGV, an access …".
std::string signal_words(int number);
// Describes a failure: "took 60 seconds and was given up", the limit that it exceeded, "ended with
// code 1" or "… with SIGSEGV, …".
std::string how_it_failed(const command_result& result, double timeout_seconds);
// The first line of a compiler's output that mentions an error, else the last line.
std::string first_error_in(const std::string& output);

// Locks a build folder, since two Ninja processes in one folder conflict. Waits for the current
// holder. Takes no lock in a folder that cannot be written: the build reports it.
class build_lock {
 public:
  explicit build_lock(const std::filesystem::path& folder)
      : file_(open((folder / "kzoo.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (file_.fd() >= 0) flock(file_.fd(), LOCK_EX);
  }

 private:
  descriptor file_;
};

}  // namespace kzoo::process
