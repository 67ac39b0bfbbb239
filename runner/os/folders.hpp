#pragma once
// The user's folders, and temporary folders.

#include "os/posix.hpp"

#include <filesystem>
#include <optional>

namespace kzoo {

// A new folder, which exists as long as the object, unless it is renamed.
class temporary_folder {
 public:
  // kernel-zoo-XXXXXX in TMPDIR, else in /tmp. Removes this user's folders there whose process was
  // killed. Throws not_written, which mentions TMPDIR.
  temporary_folder();
  // Its path is the prefix and six characters. Throws std::system_error.
  explicit temporary_folder(const std::filesystem::path& prefix);
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  descriptor in_use_;  // a lock on the folder
};

// The folder of temporary files. Throws not_written if it is no folder.
std::filesystem::path temporary_files();

// A folder of the user by the XDG Base Directory Specification: the variable's value (such as
// XDG_CACHE_HOME), else `below_home` in HOME. Ignores relative paths.
std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home);

}  // namespace kzoo
