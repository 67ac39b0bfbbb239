#pragma once
// System calls that a process which runs foreign code may not make.

namespace kzoo::process {

// From now on these calls of this thread, and of the threads and processes that it starts, fail
// with EPERM, by seccomp; without effect where the kernel does not have it:
//
// - those that halt a thread of the worker inside a call or an access of its own, so that another
//   one works while the clock stands still: filters of seccomp, the dispatch of system calls to a
//   handler, tracing, and userfaultfd;
// - those that change the limits, the niceness or the scheduling policy of any thread but the one
//   that calls. Only a privileged user could set them back. The processors of other threads are
//   not among them: thread pools choose those of their own threads, and a filter cannot tell whose
//   a thread is.
//
// Calls in a machine's other format, such as those of 32-bit programs, do not exist for it.
// PR_SET_NO_NEW_PRIVS must have been set.
void refuse_calls();

}  // namespace kzoo::process
