#pragma once
// Lets a variant report to a test which process it runs in: appends the pid as a line to the file
// that the environment variable KZOO_PROCESS_LOG names, if it is set.

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace hostile {

inline void log_process(pid_t process = getpid()) {
  if (const char* file = std::getenv("KZOO_PROCESS_LOG")) {
    std::ofstream(file, std::ios::app) << process << std::endl;
  }
}

}  // namespace hostile
