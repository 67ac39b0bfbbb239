#pragma once

#include <stdexcept>

namespace kzoo::input {

// Thrown for a file or a flag with an invalid value. what() is the whole message: where, what was
// found, what is allowed, the nearest known word.
class invalid : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kzoo::input
