#pragma once
// Landlock: which files a process can open.

#include "os/posix.hpp"

namespace kzoo::process {

struct confinement;

namespace landlock {

// The rules of a confined child: which files it can change, and no devices except CUDA's and
// memory's. Open files stay usable. Owns nothing if the kernel lacks Landlock.
descriptor rules(const confinement& c);

// Applies the rules to this thread and what it starts. Allows writing in its own part of /proc,
// where CUDA must name its threads. Makes only system calls, since the child shares its parent's
// memory. Returns a descriptor to keep open, since the kernel may otherwise forget the exception;
// negative on failure.
int obey(int rules);

}  // namespace landlock
}  // namespace kzoo::process
