#pragma once
// Processes as the kernel has them now: their children, their memory and their settings.

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

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

// Host memory that a process holds, in bytes: private or shared, without mapped files. 0: unknown.
double resident_bytes(pid_t process);

// Settings that any process of the same user may change: limits, scheduling and processors.
class settings {
 public:
  // Settings of the process now. Empty if it has ended.
  static settings of(pid_t pid);

  struct restored {
    std::vector<std::string> changed{};  // "limits", "processors", "scheduling", "niceness"
    bool all = true;  // false without the privileges to raise a hard limit or lower niceness
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

// Raises the limit of open files and returns it. Each worker takes four.
std::size_t raise_descriptor_limit();

}  // namespace kzoo::process

namespace kzoo::process::descendants {

// The child processes of this process: started by spawn(), or orphans left by plugins.

// Whether waitid() would report one of the changes (WEXITED, WSTOPPED, WCONTINUED) of a child,
// which stays to be waited for. `if_none`: the answer for a process that is no child, or no more.
bool has_changed(pid_t child, int changes, bool if_none);

// Makes this process the subreaper of its descendants: an orphan becomes its child, even from
// another process group or session. Existing children are never stopped or killed.
void adopt();
// Hold it until a started child is tracked: end() in another thread may take it for a stray.
[[nodiscard]] std::unique_lock<std::mutex> lock();
// Marks a started `child` as no stray. `alone`: the kernel lets it start no process.
void track(pid_t child, bool alone);
// The processes below a tracked child, and the strays, which may be its orphans.
std::set<pid_t> below_with_orphans(pid_t child);
std::vector<pid_t> below(pid_t root);

// Stops a tracked child, its descendants, and the strays that have come since it was resumed, with
// their descendants. Waits until they stand still. A stray is a child of this process that is
// neither tracked, nor older than adopt(), nor held with another child. Returns false if a system
// call takes seconds, or if processes start faster than they are stopped.
bool hold(pid_t child);
// Whether nothing has continued the child itself since hold(). True if it is not held.
bool stood_still(pid_t child);
void resume(pid_t child);

// Kills a tracked child, its group, every stray, what was held with it, and the orphans of all
// these. Kills the child by pid too, since a plugin may have changed its process group. Returns
// waitpid()'s status; nothing if the kernel does not end the process within seconds.
std::optional<int> end(pid_t child);

}  // namespace kzoo::process::descendants
