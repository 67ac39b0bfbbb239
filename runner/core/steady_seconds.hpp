#pragma once

#include <chrono>

namespace kzoo {

// Seconds of the machine's steady clock, which is the same for all its processes.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kzoo
