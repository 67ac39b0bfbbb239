#pragma once
// What a child may do that runs an author's code, or reads an author's text: a kernel, a compiler,
// a profiler, binutils. As far as the kernel can limit it; docs/security.md says what is left.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace kzoo::process {

struct confinement {
  // It can change files below these, in CUDA's own folders and, if it shares memory, in /dev/shm.
  // By Landlock, which also leaves it the devices of CUDA and of memory alone, not a terminal; it
  // cannot trace other processes, nor, from Linux 6.12 on, send signals to them.
  std::vector<std::filesystem::path> writable{};

  // 0: as this process may. Of each process, in bytes, what it may allocate; what they may hold
  // together, which run_confined() watches; how long each file may become; and how long each
  // process may take of the processors.
  std::uint64_t data_bytes = 0, held_bytes = 0, file_bytes = 0;
  double cpu_seconds = 0;
  // Writes beyond that length fail, instead of ending the process that makes them.
  bool longer_writes_fail = false;
  // Of what it prints, in bytes, run_confined() keeps its beginning and its end.
  std::size_t kept_output = std::size_t{64} << 20;
  // Where it is 0 the kernel lets it start none, only threads: by seccomp.
  std::size_t most_processes = 0;
  // It may make shared memory, which outlives its maker.
  bool shares_memory = true;
  // Sockets that are no AF_UNIX ones, by which tools talk to what they watch.
  bool network = false;
  // It may write in all of /proc, as CUDA does in processes that a tool starts. Else in its own
  // part.
  bool writes_in_proc = false;
  // Keeps the privileges of root, if this process has them: reading a GPU's counters takes them.
  bool privileged = false;

  // Variables of the environment that it is given beyond those that every child has
  // (environment.hpp): names, or the beginnings or ends of names, with a '*'.
  std::vector<std::string_view> variables{};
};

// The processes that a compiler, or what calls it, may have at a time.
std::size_t enough_processes();

}  // namespace kzoo::process
