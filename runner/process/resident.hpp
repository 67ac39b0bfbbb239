#pragma once

#include <sys/types.h>

namespace kzoo::process {

// Host memory that a process holds, in bytes: private or shared, without mapped files. 0: unknown.
double resident_bytes(pid_t process);

}  // namespace kzoo::process
