#pragma once
// The child processes of this process: started by spawn(), or orphans left by plugins.

#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <sys/types.h>

namespace kzoo::process::descendants {

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
