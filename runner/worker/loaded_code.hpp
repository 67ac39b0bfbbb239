#pragma once
// The code that a process had loaded before a plugin: the runner's, and libraries that time, copy
// and allocate for it.

#include <link.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace kzoo::worker {

// Compares all code with its files, whose pages all processes share, and read-only tables of
// addresses (RELRO) with a copy.
class loaded_code {
 public:
  loaded_code();

  // The library whose code has changed; "": none. Takes less than a millisecond.
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
