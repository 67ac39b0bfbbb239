#pragma once
// Whether a kernel keeps memory each time it is created, run and destroyed.

#include "worker/messages.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

class leaks {
 public:
  // What a turn has kept; nothing if that is not known.
  void add(const std::optional<worker::memory_report>& kept) {
    if (kept) turns_.push_back(*kept);
  }

  struct leak {
    std::string words;
    bool is_large;  // so that runs in a row would use up the memory
  };
  // What it has kept in each of the last turns; nothing if it was less, or there were too few.
  std::optional<leak> found() const;

 private:
  std::vector<worker::memory_report> turns_;
};

}  // namespace kzoo::run
