#pragma once
// The child processes of this one: those that spawn() started, and orphans that plugins left.

#include <mutex>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace kzoo::process::descendants {

// Makes this process the subreaper of its descendants: from now on an orphan, also one that has
// left its process group, becomes a child of this process. Children that exist already are never
// killed.
void adopt();
// Held from before a child starts until it is tracked: else end(), in another thread, would take it
// for a stray.
[[nodiscard]] std::unique_lock<std::mutex> lock();
// `child` is not a stray. Called once it has started.
void track(pid_t child);
// The processes below `root`.
std::vector<pid_t> below(pid_t root);
// Kills a tracked child, by its pid, since a plugin may have moved it to another process group; its
// group; and every stray: a child that is neither tracked nor older than adopt(), and the orphans
// that it leaves. Returns the status that waitpid() reports; nothing if the kernel does not let the
// process end within seconds.
std::optional<int> end(pid_t child);

}  // namespace kzoo::process::descendants
