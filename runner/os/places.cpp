#include "os/places.hpp"

#include "os/files.hpp"
#include "os/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kzoo {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

// Next to the program's folder: the build tree's path, else the installed tree's.
fs::path in_tree_or(const char* built, const char* installed) {
  const fs::path above = program_folder().parent_path();
  return fs::exists(above / built) ? above / built : above / installed;
}

// A colon-separated list of folders.
std::vector<fs::path> from_environment(const char* name) {
  const char* value = std::getenv(name);
  const std::vector<std::string_view> folders = parts_of(value == nullptr ? "" : value, ':');
  return {folders.begin(), folders.end()};
}

}  // namespace

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders = from_environment("KZOO_PLUGIN_PATH");
  const fs::path above = program_folder().parent_path();
  for (const fs::path& built_in : {above / "plugins", above / "lib" / "kernel-zoo" / "plugins"})
    if (fs::is_directory(built_in)) folders.push_back(built_in);
  return folders;
}

fs::path recipe_folder() { return in_tree_or("recipes", "lib/kernel-zoo/recipes"); }

fs::path mps_folder() {
  const char* const set = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  return set == nullptr || *set == '\0' ? "/tmp/nvidia-mps" : set;
}

bool has_mps() {
  std::error_code unknown;
  return fs::exists(mps_folder() / "control", unknown);
}

fs::path launcher_library() {
  return in_tree_or("plugins/launcher/compiled_kernel.so",
                    "lib/kernel-zoo/launcher/compiled_kernel.so");
}

// In the build tree, CMake makes links to them.
fs::path data_folder() { return in_tree_or("sources", "share/kernel-zoo"); }

std::map<std::string, fs::path> plugin_sources() {
  std::map<std::string, fs::path> sources;
  for (const fs::path& file : paths_below(data_folder() / "plugins")) {
    if (file.extension() != ".cu" && file.extension() != ".cpp") continue;
    // A ladder step's folder has a number before the name: 03_smem.
    const std::string name = file.stem().string(), folder = file.parent_path().filename().string();
    const std::size_t digits = std::min(folder.find_first_not_of("0123456789"), folder.size());
    if (folder == name || (digits > 0 && folder.substr(digits) == '_' + name)) sources[name] = file;
  }
  return sources;
}

std::map<std::string, std::string> ladder_steps() {
  std::map<std::string, std::string> steps;
  for (const auto& [name, source] : plugin_sources()) {
    const fs::path folder = source.parent_path();
    if (folder.filename() != name) steps[name] = folder.parent_path().filename().string();
  }
  return steps;
}

std::vector<fs::path> config_path() {
  std::vector<fs::path> folders = from_environment("KZOO_CONFIG_PATH");
  if (fs::is_directory("configs")) folders.emplace_back("configs");
  // PREFIX/bin/runner has PREFIX/share; REPO/build/PRESET/bin/runner has REPO/configs.
  const fs::path above = program_folder().parent_path();
  for (const fs::path& built_in : {above / "share" / "kernel-zoo" / "configs",
                                   above.parent_path().parent_path() / "configs"}) {
    const auto is_this = [&](const fs::path& known) {
      std::error_code fault;
      return fs::equivalent(known, built_in, fault);
    };
    if (fs::is_directory(built_in) && std::ranges::none_of(folders, is_this))
      folders.push_back(built_in);
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

}  // namespace kzoo
