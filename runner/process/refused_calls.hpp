#pragma once
// System calls that a confined child may not make.

#include <linux/filter.h>

#include <vector>

namespace kzoo::process {

struct confinement;

// A program for seccomp, by which these calls of a child, and of all that it starts, fail with
// EPERM, or as if the kernel did not have them; none where it has no seccomp for this machine:
//
// - those that halt a thread of the worker inside a call or an access of its own, so that another
//   one works while the clock stands still: filters of seccomp, the dispatch of system calls to a
//   handler, tracing, and userfaultfd;
// - those that change the limits, the niceness or the scheduling policy of any thread but the one
//   that calls. Only a privileged user could set them back. The processors of other threads are
//   not among them: thread pools choose those of their own threads, and a filter cannot tell whose
//   a thread is;
// - starting a process, where it may not; a thread is none;
// - sockets other than AF_UNIX, and connections to servers of the user's, which would do as they
//   are told, unconfined;
// - namespaces and the kernel's keys;
// - io_uring, whose requests no filter sees.
//
// Calls in a machine's other format, such as those of 32-bit programs, do not exist for it.
// PR_SET_NO_NEW_PRIVS must have been set.
std::vector<sock_filter> refused_calls(const confinement& c);

}  // namespace kzoo::process
