#pragma once
// Throws the error of a failed system call.

#include <cerrno>
#include <system_error>

namespace kzoo {

// `doing`: what was tried, for the message.
[[noreturn]] inline void throw_errno(const char* doing, int error = errno) {
  throw std::system_error(error, std::generic_category(), doing);
}

}  // namespace kzoo
