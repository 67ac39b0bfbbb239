#pragma once
// Starts every child process of this program.

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

struct confinement;

// Descriptor `from` of this process becomes `to` in the child.
struct given_descriptor {
  int from, to;
};

// Starts a program, looked up in PATH, as the leader of a new session without a terminal. Its stdin
// is /dev/null. It inherits only the given descriptors. `settings` ("NAME=value") replace variables
// of the same name. It is tracked (descendants.hpp). `confined` applies before it runs; null is
// only for programs without an author's code. Throws std::system_error.
pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors, const std::vector<std::string>& settings,
            const confinement* confined);

}  // namespace kzoo::process
