#pragma once
// The processes that this one is the parent of: workers, and what plugins leave behind.

#include <sys/types.h>

namespace kzoo::process::descendants {

// From now on whatever a worker's child starts becomes this process's child when its own parent
// ends, also where it has left the worker's group. What is a child already is left alone for ever.
void adopt();
// A worker has started, or has ended and been waited for.
void ours(pid_t worker);
void gone(pid_t worker);
// Kills every child that is neither a worker nor was there before adopt(), and what those leave.
void kill_strays();

}  // namespace kzoo::process::descendants
