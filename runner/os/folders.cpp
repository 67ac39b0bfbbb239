#include "os/folders.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace kzoo {

temporary_folder::temporary_folder(const std::filesystem::path& prefix) {
  std::string name = prefix.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home) {
  if (const char* given = std::getenv(variable); given != nullptr && *given == '/') return given;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / below_home;
  return std::nullopt;
}

}  // namespace kzoo
