#pragma once
// What POSIX calls return, in C++: a file descriptor with an owner, errors as exceptions, the
// clock.

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace kzoo {

// Throws the error of a failed call. `doing`: what was tried, for the message.
[[noreturn]] inline void throw_errno(const char* doing, int error = errno) {
  throw std::system_error(error, std::generic_category(), doing);
}

// Owns an open file descriptor and closes it on destruction. Negative: owns none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// Seconds of the machine's steady clock, which is the same for all its processes.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kzoo
