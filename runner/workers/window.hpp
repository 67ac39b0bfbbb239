#pragma once
// Memory that the supervisor and one worker both see: what a kernel wrote reaches the referee
// through it without a copy in a message.

#include <cstddef>
#include <span>

namespace kzoo::workers {

// An anonymous file, mapped. The supervisor makes it and sets its size; a worker inherits the
// descriptor and maps what it finds.
class window {
 public:
  window();                 // a new one
  explicit window(int fd);  // one that somebody else made; takes the descriptor over
  ~window();
  window(const window&) = delete;
  window& operator=(const window&) = delete;

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

}  // namespace kzoo::workers
