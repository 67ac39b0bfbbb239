#pragma once
// The child processes of this one: those that spawn() started, and strays that plugins left behind.

#include <sys/types.h>

namespace kzoo::process::descendants {

// Makes this process the subreaper of its descendants: from now on an orphan, also one that has
// left its process group, becomes a child of this process. Children that exist already are never
// killed.
void adopt();
// `child` is not a stray: call track() once it has started, forget() once it has been waited for.
void track(pid_t child);
void forget(pid_t child);
// Kills every child that is neither tracked nor older than adopt(), and the orphans they leave.
void kill_strays();

}  // namespace kzoo::process::descendants
