#pragma once
// Pages that the supervisor shares with one worker: the matrices of a kernel on the CPU.

#include <cstddef>
#include <map>

namespace kzoo::process {

// Parts of an anonymous file, whose descriptor the worker inherits. The file cannot be made smaller
// under the supervisor's mappings.
class shared_pages {
 public:
  struct part {
    std::size_t offset = 0, bytes = 0;  // in the file
    std::byte* here = nullptr;          // where this process has it
  };

  shared_pages();
  ~shared_pages();
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;

  int fd() const { return fd_; }
  // Of all parts together.
  std::size_t bytes() const { return bytes_; }
  // Zeros. `bytes`: of whole pages. Throws std::system_error when there is not enough memory.
  part take(std::size_t bytes);
  // Frees its memory. Other processes may still have it mapped.
  void give_back(const part& p);

 private:
  int fd_;
  std::size_t end_ = 0, bytes_ = 0;
  std::multimap<std::size_t, std::size_t> free_;  // offsets, by size
};

}  // namespace kzoo::process
