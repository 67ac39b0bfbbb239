#pragma once
// Memory that the supervisor and one worker both see: what a kernel wrote reaches the reference
// through it without a copy in a message.

#include <cstddef>
#include <span>

namespace kzoo::process {

// An anonymous file, mapped. The supervisor makes it and sets its size; a worker inherits the
// descriptor and maps what it finds.
class shared_memory {
 public:
  shared_memory();                 // a new one
  explicit shared_memory(int fd);  // one that somebody else made; takes the descriptor over
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  int fd() const { return fd_; }
  // At least `bytes` long from now on. Throws std::system_error when memory does not suffice.
  void reserve(std::size_t bytes);
  // The first `bytes` of it; maps again where the other side has made it larger.
  std::span<std::byte> view(std::size_t bytes);

 private:
  int fd_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kzoo::process
