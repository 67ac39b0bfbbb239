#pragma once
// A position in a file, in the form of compilers and editors.

#include <string>

namespace kzoo {

// Line and column count from 1; 0 means "no position".
struct location {
  std::string file;
  unsigned line = 0, column = 0;
};
// "FILE:LINE:COLUMN", or the file alone.
inline std::string to_string(const location& where) {
  if (where.line == 0) return where.file;
  return where.file + ':' + std::to_string(where.line) + ':' + std::to_string(where.column);
}

}  // namespace kzoo
