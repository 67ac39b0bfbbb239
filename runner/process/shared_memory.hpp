#pragma once
// Memory shared by the supervisor and one worker. The supervisor reads a kernel's result here,
// instead of receiving it in a message.

#include <cstddef>
#include <span>

namespace kzoo::process {

// An anonymous file. The supervisor creates and sizes it; a worker inherits and maps it.
class shared_memory {
 public:
  shared_memory();                 // creates the file
  explicit shared_memory(int fd);  // takes ownership of an inherited descriptor
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  int fd() const { return fd_; }
  // Bytes that are mapped here.
  std::size_t size() const { return size_; }
  // Grows it to at least `bytes`. Throws std::system_error if memory runs out.
  void reserve(std::size_t bytes);
  // The first `bytes`; maps again if the other side has grown the file.
  std::span<std::byte> view(std::size_t bytes);

 private:
  int fd_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kzoo::process
