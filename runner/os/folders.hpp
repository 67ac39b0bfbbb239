#pragma once
// Folders of the user, and those that are gone afterwards.

#include "os/posix.hpp"

#include <filesystem>
#include <optional>

namespace kzoo {

// A new folder, which exists as long as the object, unless it is given another name.
class temporary_folder {
 public:
  // kernel-zoo-XXXXXX where temporary files are kept: in TMPDIR, else in /tmp. Removes those there
  // of this user whose process was killed. Throws not_written, with TMPDIR in its words.
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

// Where temporary files are kept. Throws not_written if it is no folder.
std::filesystem::path temporary_files();

// A folder of the user's, by the XDG Base Directory Specification: what the variable names, such as
// XDG_CACHE_HOME, else this folder in HOME. Relative paths are ignored.
std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home);

}  // namespace kzoo
