#include "core/user_folder.hpp"

#include <cstdlib>

namespace kzoo {

std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home) {
  if (const char* given = std::getenv(variable); given != nullptr && *given == '/') return given;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / below_home;
  return std::nullopt;
}

}  // namespace kzoo
