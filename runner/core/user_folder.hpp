#pragma once

#include <filesystem>
#include <optional>

namespace kzoo {

// A folder of the user's, by the XDG Base Directory Specification: what the variable names, such as
// XDG_CACHE_HOME, else this folder in HOME. Relative paths are ignored.
std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home);

}  // namespace kzoo
