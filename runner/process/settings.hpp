#pragma once
// What any process of the same user may change of another: its limits, and when and where its
// threads run.

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <vector>

namespace kzoo::process {

class settings {
 public:
  // Those of the process now. Empty if it has ended.
  static settings of(pid_t pid);

  // Sets back what is no longer as it was, in the threads that there were. Returns whether it
  // could: a hard limit is raised, and a nice value lowered, by privileged users alone.
  bool restore() const;

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

}  // namespace kzoo::process
