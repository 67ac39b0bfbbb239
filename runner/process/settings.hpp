#pragma once
// Settings that any process of the same user may change: limits, scheduling and processors.

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace kzoo::process {

class settings {
 public:
  // Settings of the process now. Empty if it has ended.
  static settings of(pid_t pid);

  struct restored {
    std::string changed;  // "limits, processors"; "" if nothing had changed
    bool all = true;      // raising a hard limit, or lowering niceness, needs privileges
  };
  // Restores what has changed, in the recorded threads.
  restored restore() const;

 private:
  struct thread {
    pid_t id = 0;
    cpu_set_t processors{};
    int policy = 0;
    sched_param priority{};
    int niceness = 0;
  };
  static thread of_thread(pid_t id);

  pid_t pid_ = 0;
  std::array<rlimit, RLIMIT_NLIMITS> limits_{};
  std::vector<thread> threads_;
};

// Restores what others changed since the last call, in the threads of the first call.
settings::restored restore_own_settings();

}  // namespace kzoo::process
