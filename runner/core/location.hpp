#pragma once
// A place in a file, as an editor wants it.

#include <string>

namespace kzoo {

// Line and column count from 1; 0 means "no place".
struct location {
  std::string file;
  unsigned line = 0, column = 0;
};
// "FILE:LINE:COLUMN", or the file alone.
std::string to_string(const location& where);

}  // namespace kzoo
