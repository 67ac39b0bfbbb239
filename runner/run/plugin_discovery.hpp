#pragma once
// Finds plugin files by name, without loading them.
//
//   FOLDER/cuda/naive.so   the cuda build of `naive`
//   FOLDER/cpu/naive.so    its cpu build
//   FOLDER/mine.so         `mine`, for the device that it declares when it is loaded
//   FOLDER/names.txt       a line for each plugin of the tree: its name, and the devices for which
//                          it can be built here

#include "results/tuned.hpp"

#include <kzoo/abi.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::run {

struct plugin_file {
  std::string name;  // the file's name without .so: what users type
  std::filesystem::path file;
  kzoo_device_kind kind{};         // from its folder; 0 if the folder does not say
  std::filesystem::path source{};  // its source file; empty: unknown
  results::tuned_builds tuned{};
  bool host_code = true;               // whether its author wrote host code
  std::vector<std::string> missing{};  // headers that the source includes, and was compiled without
};

class plugin_discovery {
 public:
  // Earlier folders take precedence. A missing folder is an error (input::invalid) if `required`.
  void add_folder(const std::filesystem::path& folder, bool required);

  // Takes precedence over files with the same name in the folders.
  void add_file(plugin_file file);

  const std::vector<plugin_file>& files() const { return files_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // A warning for each folder that other users can write to: its libraries would run as this user.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // All names, each once: plugins of this tree in the ladder's order, then others, sorted.
  std::vector<std::string> names() const;
  // A plugin of the tree without a library.
  struct missing_build {
    std::string name;
    kzoo_device_kind kind{};  // 0: it cannot be built here
  };
  std::vector<missing_build> not_built() const;
  // The files that may be builds for the device, in order of precedence.
  std::vector<plugin_file> find(const std::string& name, kzoo_device_kind kind) const;

 private:
  void check_permissions(const std::filesystem::path& folder);
  void add_files(const std::filesystem::path& folder, kzoo_device_kind kind);

  std::vector<std::filesystem::path> folders_;
  std::vector<plugin_file> files_;
  std::vector<std::string> warnings_;
  // From names.txt.
  struct known_plugin {
    std::string name, devices;
  };
  std::vector<known_plugin> known_;
};

}  // namespace kzoo::run
