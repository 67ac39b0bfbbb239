#pragma once
// Memory shared between the supervisor and one worker: through it the supervisor reads what a
// kernel wrote, instead of receiving it in a message.

#include <cstddef>
#include <span>

namespace kzoo::process {

// A mapped anonymous file. The supervisor creates it and sets its size; a worker inherits the
// descriptor and maps it.
class shared_memory {
 public:
  shared_memory();                 // creates it
  explicit shared_memory(int fd);  // an inherited one; takes ownership of the descriptor
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  int fd() const { return fd_; }
  // Of the part that is mapped here, in bytes.
  std::size_t size() const { return size_; }
  // Grows it to at least `bytes`. Throws std::system_error when there is not enough memory.
  void reserve(std::size_t bytes);
  // The first `bytes` of it; maps it anew if the other side has grown it.
  std::span<std::byte> view(std::size_t bytes);

 private:
  int fd_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kzoo::process
