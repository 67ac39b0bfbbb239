#pragma once
// System calls that a confined child may not make.

#include <linux/filter.h>

#include <vector>

namespace kzoo::process {

struct confinement;

// A seccomp program that applies to a child and all that it starts. Refused calls fail with EPERM,
// or as if the kernel lacked them. Empty if the kernel has no seccomp for this machine.
//
// - Calls that halt a worker's thread inside a call or an access, so that another thread works
//   while the clock stands still: seccomp filters, dispatch of system calls to a handler, tracing,
//   and userfaultfd.
// - Calls that change the limits, niceness or scheduling policy of another thread. Only a
//   privileged user could restore them. Changing other threads' processors is allowed: thread pools
//   do so, and a filter cannot tell whose a thread is.
// - Starting a process, where not allowed. Threads are allowed.
// - Sockets other than AF_UNIX, and connections to the user's servers, which are unconfined.
// - Namespaces and the kernel's keys.
// - io_uring, whose requests no filter sees.
//
// Calls in another format of the machine, such as of 32-bit programs, are unknown to the child.
// PR_SET_NO_NEW_PRIVS must have been set.
std::vector<sock_filter> refused_calls(const confinement& c);

}  // namespace kzoo::process
