#pragma once
// What each subcommand does. Each gives back the exit code of the program.

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::cli {

// Documented in the README; scripts rely on them.
inline constexpr int kOk = 0;
inline constexpr int kSomeCellFailed = 1;
inline constexpr int kBadInput = 2;  // usage, experiment file
inline constexpr int kNoSuchDevice = 3;

// Of every subcommand.
struct common_options {
  std::vector<std::string> plugin_folders;  // --plugin-dir, before the built-in ones
  bool in_process = false;
};

struct run_options : common_options {
  std::string file;
  std::string device;                // "" : as the file says
  std::vector<std::string> plugins;  // empty: as the file says
  std::vector<std::string> sizes;    // likewise
  std::string tier;                  // "" : as the file says
  std::string json;                  // "" : none, "-": stdout
  bool quiet = false;
  bool show_errors = false;
};

struct validate_options : common_options {
  std::string plugin;       // a name, name:variant or glob, or a library's file, also with :variant
  std::string size, dtype;  // "" : as it comes
  std::string tier = "full";
  std::string device;  // "" : one that there is a build for
  std::string json;
  double timeout_seconds = 60;
  bool show_errors = false;
};

int run(const run_options& options);
int check(const run_options& options);
int validate(const validate_options& options);
int list(const common_options& options);
int describe(const common_options& options, const std::string& plugin);
int devices();

// The folders that plugins and experiments are looked up in, by the program's own place: the build
// tree it was built in, or the tree it is installed in. Then the environment's.
std::vector<std::filesystem::path> plugin_folders();
std::vector<std::filesystem::path> config_path();

}  // namespace kzoo::cli
