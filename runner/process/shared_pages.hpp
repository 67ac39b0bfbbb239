#pragma once

#include <cstddef>
#include <map>

namespace kzoo::process {

// Matrices of a kernel on the CPU, in an anonymous file shared by the supervisor and one worker,
// which inherits its descriptor. Sealed against shrinking, which would break mappings.
class shared_pages {
 public:
  struct part {
    std::size_t offset = 0, bytes = 0;  // in the file
    std::byte* here = nullptr;          // mapping in this process
  };

  shared_pages();
  ~shared_pages();
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;

  int fd() const { return fd_; }
  // Size of all parts together.
  std::size_t bytes() const { return bytes_; }
  // A part filled with zeros. `bytes`: whole pages. Throws std::system_error if memory runs out.
  part take(std::size_t bytes);
  // Frees the part's memory. Other processes may still have it mapped.
  void give_back(const part& p);

 private:
  int fd_;
  std::size_t end_ = 0, bytes_ = 0;
  std::multimap<std::size_t, std::size_t> free_;  // offsets, by size
};

}  // namespace kzoo::process
