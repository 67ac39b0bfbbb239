#pragma once
// The processes of the machine, as the kernel lists them now.

#include <map>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

class process_table {
 public:
  process_table();

  std::vector<pid_t> children_of(pid_t process) const;
  // Its children, their children, and so on.
  std::vector<pid_t> below(pid_t process) const;

 private:
  // All of the machine, where the kernel does not list the children of one.
  std::optional<std::multimap<pid_t, pid_t>> by_parent_;
};

// Whether no thread of the process is in code of its own, nor will be before it is continued, once
// it has been sent SIGSTOP: each is stopped, has ended, or is in a call that cannot be interrupted,
// such as a driver's, and stops at its end. True of a process that has ended.
bool stands_still(pid_t process);

}  // namespace kzoo::process
