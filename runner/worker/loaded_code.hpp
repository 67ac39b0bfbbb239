#pragma once
// The code that a process had loaded before a plugin came: the runner's own, and that of the
// libraries which time, copy and allocate for it.

#include <link.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace kzoo::worker {

// Compares all code with the files that it was loaded from, whose pages all processes share, and
// the tables of addresses that are read-only after start-up with a copy.
class loaded_code {
 public:
  loaded_code();

  // The library whose code is no longer as it was; "": all is. Takes less than a millisecond.
  std::string changed() const;

 private:
  struct part {
    std::string library;
    std::span<const std::byte> loaded, original;
  };

  void add(const std::string& file, const dl_phdr_info& library);

  std::vector<part> parts_;
  std::deque<std::vector<std::byte>> copies_;
};

}  // namespace kzoo::worker
