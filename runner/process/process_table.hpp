#pragma once
// The machine's processes, as the kernel lists them now.

#include <map>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

class process_table {
 public:
  process_table();

  std::vector<pid_t> children_of(pid_t process) const;
  // All descendants.
  std::vector<pid_t> below(pid_t process) const;

 private:
  // All processes, if the kernel does not list children.
  std::optional<std::multimap<pid_t, pid_t>> by_parent_;
};

// Whether a process that was sent SIGSTOP runs no code of its own until continued. Each thread is
// stopped, has ended, or is in an uninterruptible call, such as a driver's, and stops at its end.
// True if the process has ended.
bool stands_still(pid_t process);

}  // namespace kzoo::process
