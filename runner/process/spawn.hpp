#pragma once
// Starts child processes; every child of this program is started here.

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

// Starts a program, looked up in PATH, as the leader of a new session, which has no terminal. Its
// stdin is /dev/null; it inherits the given descriptors and no others, and `settings`
// ("NAME=value") replace variables of the same name. It is tracked from then on (descendants.hpp).
// With a confinement it is confined before it runs; without one it does as it likes, which is for
// what has nothing of an author's in it. Throws std::system_error.
pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors, const std::vector<std::string>& settings,
            const confinement* confined);

}  // namespace kzoo::process
