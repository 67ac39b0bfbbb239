#pragma once
// How a variant tells a test that it runs, and where: the number of a process, on a line of its own
// in the file that KZOO_TOLD names, if it names one.

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace hostile {

inline void tell(pid_t process = getpid()) {
  if (const char* file = std::getenv("KZOO_TOLD")) {
    std::ofstream(file, std::ios::app) << process << std::endl;
  }
}

}  // namespace hostile
