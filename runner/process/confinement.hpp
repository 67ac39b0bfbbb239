#pragma once
// Limits of a child that runs an author's code or reads an author's text: a kernel, a compiler, a
// profiler, binutils. docs/security.md says what the kernel cannot limit.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace kzoo::process {

struct confinement {
  // Folders below which it can change files, besides CUDA's own and, with shares_memory, /dev/shm.
  // Landlock also hides all devices except CUDA's and memory's, terminals included. It prevents
  // tracing other processes and, from Linux 6.12 on, sending signals to them.
  std::vector<std::filesystem::path> writable{};

  // Limits in bytes; 0: as this process. data_bytes: allocated by each process. held_bytes: held by
  // all together, watched by run_confined(). file_bytes: length of each file. cpu_seconds:
  // processor time of each process.
  std::uint64_t data_bytes = 0, held_bytes = 0, file_bytes = 0;
  double cpu_seconds = 0;
  // Writes beyond file_bytes fail, instead of ending the process.
  bool longer_writes_fail = false;
  // run_confined() keeps the beginning and the end of the output, in bytes together.
  std::size_t kept_output = std::size_t{64} << 20;
  // 0: seccomp lets it start threads only.
  std::size_t most_processes = 0;
  // It may create shared memory, which outlives its creator.
  bool shares_memory = true;
  // It may open sockets other than AF_UNIX, by which tools talk to their target.
  bool network = false;
  // It may write in all of /proc, as CUDA does in processes that a tool starts. Otherwise only in
  // its own part.
  bool writes_in_proc = false;
  // Keeps root's privileges, if this process has them: reading GPU counters needs them.
  bool privileged = false;

  // Additional variables (environment.hpp): names, or beginnings or ends of names with '*'.
  std::vector<std::string_view> variables{};
};

// The most processes that a compiler or its caller may have at a time.
std::size_t enough_processes();

}  // namespace kzoo::process
