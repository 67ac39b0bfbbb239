#pragma once
// The code that a process had loaded before a plugin came: the runner's own, and that of the
// libraries which time, copy and allocate for it.

#include <cstddef>
#include <string>
#include <vector>

namespace kzoo::worker {

// A copy of all code, and of the tables of addresses that are read-only after start-up. A few MB.
class loaded_code {
 public:
  loaded_code();

  // The library whose code is no longer as it was; "": all is. Takes about a millisecond.
  std::string changed() const;

 private:
  struct part {
    std::string library;
    const std::byte* begin;
    std::vector<std::byte> copy;
  };
  std::vector<part> parts_;
};

}  // namespace kzoo::worker
