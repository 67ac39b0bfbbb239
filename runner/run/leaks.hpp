#pragma once
// Finds kernels that keep memory after they are destroyed.

#include "worker/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

class leaks {
 public:
  // Adds what a turn has kept, if known. `needed`: as in memory_need of run/device_memory.hpp.
  void add(const std::optional<worker::memory_report>& kept, std::int64_t needed);

  struct leak {
    std::string words;
    bool is_large;  // repeated runs would use up the memory
  };
  // Reports the memory kept by one turn if that left too little to others, or by each of the last
  // turns. Empty if it was less, or after too few turns.
  std::optional<leak> found() const;

 private:
  std::vector<worker::memory_report> turns_;
  std::string starves_others_;  // in words
};

}  // namespace kzoo::run
