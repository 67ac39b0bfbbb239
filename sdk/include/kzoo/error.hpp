// The exception type of the SDK, with the status code that the C ABI reports.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <kzoo/abi.h>

namespace kzoo {

// Thrown by the SDK and by kzoo::handle. A plugin may throw it where plugin.hpp says so.
class error : public std::runtime_error {
 public:
  // `text`: a sentence for the user.
  error(std::uint32_t status_code, const std::string& text)
      : std::runtime_error(text), status(status_code) {}

  std::uint32_t status;  // one of the KZOO_* codes of abi.h, never KZOO_OK
};

}  // namespace kzoo
