#pragma once
// Whether a kernel keeps memory that it should have freed when it was destroyed.

#include "worker/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

class leaks {
 public:
  // What a turn has kept; nothing if that is not known. `needed`: memory_need in
  // run/device_memory.hpp.
  void add(const std::optional<worker::memory_report>& kept, std::int64_t needed);

  struct leak {
    std::string words;
    bool is_large;  // so that runs in a row would use up the memory
  };
  // What it has kept in one turn, where that left too little to others, or in each of the last
  // turns; nothing if it was less, or there were too few.
  std::optional<leak> found() const;

 private:
  std::vector<worker::memory_report> turns_;
  std::string starves_others_;  // in words
};

}  // namespace kzoo::run
