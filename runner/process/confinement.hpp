#pragma once
// Limits of a child that runs an author's code or reads an author's text: a kernel, a compiler, a
// profiler, binutils. docs/security.md says what the kernel cannot limit.

#include "os/posix.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct sock_filter;

namespace kzoo::process {

struct confinement {
  // Folders below which it can change files, besides the pipes of CUDA's MPS and, with
  // shares_memory, /dev/shm. Landlock also hides all devices except CUDA's and memory's, terminals
  // included. It prevents tracing other processes and, from Linux 6.12 on, sending signals to them.
  std::vector<std::filesystem::path> writable{};

  // Limits; 0: as this process.
  std::uint64_t data_bytes = 0;  // allocated by each process
  std::uint64_t held_bytes = 0;  // held by all processes together, watched by run_confined()
  std::uint64_t file_bytes = 0;  // length of each file
  double cpu_seconds = 0;        // processor time of each process
  // Writes beyond file_bytes fail, instead of ending the process.
  bool longer_writes_fail = false;
  // run_confined() keeps the beginning and the end of the output, in bytes together.
  std::size_t kept_output = std::size_t{64} << 20;
  // 0: seccomp lets it start threads only.
  std::size_t most_processes = 0;
  // Allows shared memory, which outlives its creator.
  bool shares_memory = true;
  // Allows sockets other than AF_UNIX, by which tools talk to their target.
  bool network = false;
  // Allows writes in all of /proc, as CUDA makes them in processes that a tool starts, not only in
  // the process's own part.
  bool writes_in_proc = false;
  // Keeps root's privileges, if this process has them: reading GPU counters needs them.
  bool privileged = false;

  // Additional variables (clean_environment()): names, or beginnings or ends of names with '*'.
  std::vector<std::string_view> variables{};
};

// The most processes that a compiler or its caller may have at a time.
std::size_t enough_processes();

// Landlock: which files a process can open.
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

// This process's variables, as "NAME=value", with `settings` in place of variables of the same
// name. No name may occur twice: getenv() finds the first, a shell passes on the last.
std::vector<std::string> whole_environment(const std::vector<std::string>& settings);

// The environment of a confined child: what programs need, and what `variables` and the user's
// KZOO_PASS (comma-separated) name. A name with TOKEN, SECRET, PASSWORD or KEY is passed only if
// KZOO_PASS has it in full.
std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables);

// Whether a tool, such as Nsight Systems, watches this process and its children.
bool has_profiler();

}  // namespace kzoo::process
