#pragma once

#include <filesystem>

namespace kzoo {

// A new folder, which exists as long as the object, unless it is given another name.
class temporary_folder {
 public:
  // Its path is the prefix and six characters. Throws std::system_error.
  explicit temporary_folder(const std::filesystem::path& prefix);
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kzoo
