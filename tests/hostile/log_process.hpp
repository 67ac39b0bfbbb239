#pragma once
// Reports a variant's process to a test: appends the pid to the file in KZOO_PROCESS_LOG, if set.

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
