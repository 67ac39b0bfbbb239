#pragma once
// Whole files, the user's folders and temporary folders, and which other users can write to them.

#include "os/posix.hpp"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo {

// An output could not be written, e.g. on a full disk. what() names the file and says why.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The text of a file. Empty if it cannot be read.
std::string content_of(const std::filesystem::path& file);

// The paths in a folder, with this extension if one is given, in order. Never throws for the
// folder: after its first fault there are no more.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            std::string_view extension = "");
// The same for the folders in it, too.
std::vector<std::filesystem::path> paths_below(const std::filesystem::path& folder);

// Throws not_written.
void write_file(const std::filesystem::path& file, std::string_view text);
// Like write_file(), but atomic: readers find the whole old or the whole new text.
void replace_file(const std::filesystem::path& file, std::string_view text);

// "every user" or "its group", if not only the owner. A group numbered as its user has no others.
std::optional<std::string> others_who_can_write(const std::filesystem::path& path);

// Why other users may control the folder's contents. Nothing: it and all folders above belong to
// this user or root, and others can write nothing, or only their own files (sticky bit).
std::optional<std::string> not_private_because(const std::filesystem::path& folder);

// A new folder, which exists as long as the object, unless it is renamed.
class temporary_folder {
 public:
  // kernel-zoo-XXXXXX in TMPDIR, else in /tmp. Removes this user's folders there whose process was
  // killed. Throws not_written, which mentions TMPDIR.
  temporary_folder();
  // Creates the folder; its path is the prefix and six characters. Throws std::system_error.
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
