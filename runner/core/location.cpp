#include "core/location.hpp"

#include <fmt/format.h>

namespace kzoo {

std::string to_string(const location& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

}  // namespace kzoo
