#pragma once
// Numbers for the runs of a kernel whose blocks leave each other messages in the workspace: its
// contents are undefined when a run begins, and a message with the run's number is of that run.

#include <cstdint>

namespace persistent {

// Each time another of all numbers of 64 bits but 0, in an order without pattern (splitmix64).
class run_numbers {
 public:
  unsigned long long next() const {
    std::uint64_t x = runs_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x == 0 ? next() : x;
  }

 private:
  mutable std::uint64_t runs_ = reinterpret_cast<std::uintptr_t>(this);
};

}  // namespace persistent
