#pragma once

#include "core/descriptor.hpp"

#include <filesystem>

namespace kzoo {

// A new folder, which exists as long as the object, unless it is given another name.
class temporary_folder {
 public:
  // kernel-zoo-XXXXXX where temporary files are kept: in TMPDIR, else in /tmp. Removes those there
  // of this user whose process was killed. Throws std::system_error.
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

}  // namespace kzoo
