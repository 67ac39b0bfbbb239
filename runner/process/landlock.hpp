#pragma once
// Landlock: which files a process can open, however it does.

#include "os/posix.hpp"

namespace kzoo::process {

struct confinement;

namespace landlock {

// The rules of a confined child: it can change files only where it may and where CUDA writes, and
// reach no device but those of CUDA and of memory. What is open already stays usable. Owns nothing
// where the kernel does not have Landlock.
descriptor rules(const confinement& c);

// Puts them into force for this thread and what it starts. In its part of /proc a process may
// write: CUDA gives its threads names there, or fails. A few system calls, for a child that shares
// its parent's memory. Returns a descriptor that is to stay open, without which the kernel may
// forget which part is meant; negative where it fails.
int obey(int rules);

}  // namespace landlock
}  // namespace kzoo::process
