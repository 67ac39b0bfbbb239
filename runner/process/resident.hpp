#pragma once

#include <sys/types.h>

namespace kzoo::process {

// The host memory that a process holds, private or shared with others, without the files that it
// has mapped. 0: not known.
double resident_bytes(pid_t process);

}  // namespace kzoo::process
