// The exception type of the SDK, with the status code that the C ABI reports.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <kzoo/abi.h>

namespace kzoo {

class error : public std::runtime_error {
 public:
  error(std::uint32_t status_code, const std::string& text)
      : std::runtime_error(text), status(status_code) {}

  std::uint32_t status;  // one of the KZOO_* codes of abi.h, never KZOO_OK
};

}  // namespace kzoo
