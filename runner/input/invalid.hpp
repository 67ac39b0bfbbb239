#pragma once
// What a user wrote cannot be done.

#include <stdexcept>

namespace kzoo::input {

// A file, or a flag, says something that cannot be done. what() is complete: place, what was found,
// what is allowed, the nearest known word.
class invalid : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kzoo::input
