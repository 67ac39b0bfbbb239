#pragma once
// How every other process is started.

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

// `from`, here, is `to` in the process that is started.
struct given_descriptor {
  int from, to;
};

// Starts a program, found as a shell finds it, as the leader of a process group of its own. It has
// nothing to read, the descriptors given, and `settings` ("NAME=value") before this environment. It
// counts as one of ours (offspring.hpp) from then on. Throws std::system_error.
pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors,
            const std::vector<std::string>& settings = {});

}  // namespace kzoo::process
