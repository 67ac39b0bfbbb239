#pragma once
// C++ for POSIX: descriptors with an owner, errors as exceptions, the clock.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

namespace kzoo {

// Throws the error of a failed call. `doing`: the attempted action, for the message.
[[noreturn]] inline void throw_errno(const char* doing, int error = errno) {
  throw std::system_error(error, std::generic_category(), doing);
}

// Reserves the bytes of a file from `offset` on. Throws like throw_errno().
inline void reserve_bytes(int fd, std::size_t offset, std::size_t bytes, const char* doing) {
  int error = 0;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) throw_errno(doing, error);
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

// Seconds of the machine's steady clock, equal in all its processes.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kzoo

namespace kzoo::interrupt {

// SIGINT (Ctrl-C) and SIGTERM: the run stops at the next check() and keeps all finished results. A
// second signal ends the program at once.

// Thrown by check(). Not a std::exception, so that no handler of failures catches it.
class interrupted {};

// Records SIGINT and SIGTERM instead of ending the program; signals that were ignored stay ignored.
// Ignores SIGPIPE and SIGXFSZ: writing fails instead. Throws std::system_error.
void catch_signals();
// The last received signal; 0: none.
int signal_number();
// Stops the run as if a signal had come, without changing signal_number().
void request();
// Throws interrupted after a signal or request().
void check();
// For poll(): readable after a signal or request(); -1 (ignored) before catch_signals().
int fd();

}  // namespace kzoo::interrupt
