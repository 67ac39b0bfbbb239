#pragma once
// Which plugin files there are. Looks at names only: nothing is loaded here.
//
//   FOLDER/cuda/naive.so   the cuda build of `naive`
//   FOLDER/cpu/naive.so    its cpu build
//   FOLDER/mine.so         `mine`, for whatever device it says when it is loaded
//   FOLDER/names.txt       names that exist, a line each, whether or not they were built here

#include <kzoo/abi.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::run {

struct plugin_file {
  std::string name;  // the file's name without .so: what users type
  std::filesystem::path file;
  kzoo_device_kind kind{};  // by its folder; 0 where only the plugin itself knows
};

class plugin_discovery {
 public:
  // Earlier folders win. A folder that does not exist is an error (std::invalid_argument) only if
  // `required`.
  void add_folder(const std::filesystem::path& folder, bool required);

  const std::vector<plugin_file>& files() const { return files_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // About folders that others may put libraries into: whoever can do that runs code as this user.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // All names, sorted, each once.
  std::vector<std::string> names() const;
  // The files that may be a build for the device, best first.
  std::vector<plugin_file> find(const std::string& name, kzoo_device_kind kind) const;

 private:
  void check_permissions(const std::filesystem::path& folder);
  void add_files(const std::filesystem::path& folder, kzoo_device_kind kind);

  std::vector<std::filesystem::path> folders_;
  std::vector<plugin_file> files_;
  std::vector<std::string> warnings_;
  std::vector<std::string> known_;  // from names.txt
};

}  // namespace kzoo::run
