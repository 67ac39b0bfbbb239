#pragma once
// Starts child processes; every child of this program is started here.

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

// Descriptor `from` of this process becomes `to` in the child.
struct given_descriptor {
  int from, to;
};

// Starts a program, looked up in PATH, as the leader of a new process group. Its stdin is
// /dev/null; it inherits the given descriptors and no others, and `settings` ("NAME=value") replace
// variables of the same name. It is tracked from then on (descendants.hpp). Throws
// std::system_error.
pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors,
            const std::vector<std::string>& settings = {});

}  // namespace kzoo::process
