#pragma once
// The child processes of this one: those that spawn() started, and orphans that plugins left.

#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <sys/types.h>

namespace kzoo::process::descendants {

// Makes this process the subreaper of its descendants: from now on an orphan, also one that has
// left its process group or session, becomes a child of this process. Children that exist already
// are never stopped or killed.
void adopt();
// Held from before a child starts until it is tracked: else end(), in another thread, would take it
// for a stray.
[[nodiscard]] std::unique_lock<std::mutex> lock();
// `child` is not a stray. Called once it has started. `alone`: the kernel lets it start no process.
void track(pid_t child, bool alone);
// The processes below a tracked child, and the strays, which may be its orphans, with what is below
// them.
std::set<pid_t> below_with_orphans(pid_t child);
// The processes below `root`.
std::vector<pid_t> below(pid_t root);

// Stops a tracked child, everything below it, and the strays that have come since it was resumed,
// with what is below them, and waits until they stand still. A stray is a child of this process
// that is neither tracked, nor older than adopt(), nor held with another child. Returns whether
// they do: false if a call into the kernel takes seconds, or if one starts processes faster than
// they are stopped.
bool hold(pid_t child);
// Whether nothing has continued the child itself since hold(): a timer of the kernel's can. True of
// one that is not held.
bool stood_still(pid_t child);
// Lets all that hold() has stopped go on.
void resume(pid_t child);

// Kills a tracked child, by its pid, since a plugin may have moved it to another process group; its
// group; every stray, what was held with it, and the orphans that these leave. Returns the status
// that waitpid() reports; nothing if the kernel does not let the process end within seconds.
std::optional<int> end(pid_t child);

}  // namespace kzoo::process::descendants
