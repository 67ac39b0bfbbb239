#pragma once
// Paths of the program's own files, in its build or installed tree.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kzoo {

// Folders to search: the environment's, then those of the program's build or installed tree.
std::vector<std::filesystem::path> plugin_folders();
std::vector<std::filesystem::path> config_path();
// Folders to search for the charting library: KZOO_CHARTS, ./zoo setup's, the installed tree's.
std::vector<std::filesystem::path> charts_folders();
// The folder with the files that `new` and `export` copy: template/, plugins/, manifest/, LICENSE.
std::filesystem::path data_folder();
// The plugins' sources in it by name, for example GROUP/NAME/NAME.cu.
std::map<std::string, std::filesystem::path> plugin_sources();
// The steps of ladders, in folders GROUP/NUMBER_NAME, with each step's group.
std::map<std::string, std::string> ladder_steps();
// The folder with the recipe for compiling plugins (compile/cache.hpp).
std::filesystem::path recipe_folder();
// The pipes of CUDA's Multi-Process Service (MPS).
std::filesystem::path mps_folder();
// Whether the service runs: its clients must connect to it, and share the GPU's multiprocessors.
bool has_mps();
// The library that launches packed kernels: manifest/pack.hpp. It may be missing.
std::filesystem::path launcher_library();

}  // namespace kzoo
