#pragma once
// A system call that failed, as an exception.

#include <cerrno>
#include <system_error>

namespace kzoo {

// `doing`: what was tried, for the message.
[[noreturn]] inline void throw_errno(const char* doing, int error = errno) {
  throw std::system_error(error, std::generic_category(), doing);
}

}  // namespace kzoo
