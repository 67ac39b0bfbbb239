#pragma once
// Code loaded before a plugin: the runner's, and libraries that time, copy and allocate.

#include <link.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace kzoo::worker {

// Compares code with its files, and read-only tables of addresses (RELRO) with a copy.
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
