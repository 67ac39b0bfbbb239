#pragma once
// What any process of the same user may change of another: its limits, and when and where its
// threads run.

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace kzoo::process {

class settings {
 public:
  // Those of the process now. Empty if it has ended.
  static settings of(pid_t pid);

  struct restored {
    std::string changed;  // "limits, processors"; "" if all was as before
    bool all = true;  // a hard limit is raised, and a nice value lowered, by the privileged alone
  };
  // Sets back what is no longer as it was, in the threads that there were.
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

// Sets back what others have changed of this process, and of the threads that it had at the first
// call, since the last call.
settings::restored restore_own_settings();

}  // namespace kzoo::process
