#include "cli/commands.hpp"
#include "os/folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

// A colon-separated list of folders.
std::vector<fs::path> from_environment(const char* name) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(name);
  std::istringstream list(value == nullptr ? "" : value);
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders = from_environment("KZOO_PLUGIN_PATH");
  const fs::path above = program_folder().parent_path();
  for (const fs::path& built_in : {above / "plugins", above / "lib" / "kernel-zoo" / "plugins"}) {
    if (fs::is_directory(built_in)) folders.push_back(built_in);
  }
  return folders;
}

fs::path recipe_folder() {
  const fs::path above = program_folder().parent_path();
  const fs::path of_tree = above / "recipes";
  return fs::is_directory(of_tree) ? of_tree : above / "lib" / "kernel-zoo" / "recipes";
}

fs::path launcher_library() {
  const fs::path above = program_folder().parent_path(), file = "launcher/compiled_kernel.so";
  const fs::path of_tree = above / "plugins" / file;
  return fs::exists(of_tree) ? of_tree : above / "lib" / "kernel-zoo" / file;
}

fs::path source_folder() {
  const fs::path above = program_folder().parent_path();
  const fs::path of_tree = above / "sources";  // links, which CMake makes
  return fs::is_directory(of_tree) ? of_tree : above / "share" / "kernel-zoo";
}

std::map<std::string, fs::path> plugin_sources() {
  std::map<std::string, fs::path> found;
  std::error_code fault;
  for (fs::recursive_directory_iterator at(source_folder() / "plugins", fault), end;
       !fault && at != end; at.increment(fault)) {
    const fs::path& file = at->path();
    if (file.extension() != ".cu" && file.extension() != ".cpp") continue;
    // The step of a ladder has its number before its name: 03_smem.
    const std::string name = file.stem().string(), folder = file.parent_path().filename().string();
    const std::size_t digits = std::min(folder.find_first_not_of("0123456789"), folder.size());
    if (folder == name || (digits > 0 && folder.substr(digits) == '_' + name)) found[name] = file;
  }
  return found;
}

std::vector<fs::path> config_path() {
  std::vector<fs::path> folders = from_environment("KZOO_CONFIG_PATH");
  if (fs::is_directory("configs")) folders.emplace_back("configs");
  // PREFIX/bin/runner has PREFIX/share; REPO/build/PRESET/bin/runner has REPO/configs.
  const fs::path above = program_folder().parent_path();
  for (const fs::path& built_in : {above / "share" / "kernel-zoo" / "configs",
                                   above.parent_path().parent_path() / "configs"}) {
    if (fs::is_directory(built_in)) folders.push_back(built_in);
  }
  return folders;
}

std::vector<fs::path> charts_folders() {
  std::vector<fs::path> folders = from_environment("KZOO_CHARTS");
  if (const auto data = user_folder("XDG_DATA_HOME", ".local/share"))
    folders.push_back(*data / "kernel-zoo" / "charts");
  folders.push_back(program_folder().parent_path() / "share" / "kernel-zoo" / "charts");
  return folders;
}

}  // namespace kzoo::cli
