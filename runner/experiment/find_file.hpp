#pragma once
// Finds an experiment file by the name that a user types.

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::experiment {

// The path of `name`: itself if it exists, else under each folder of `config_path` and its folder
// experiments/ in turn, with or without ".toml". Throws input::invalid with every path tried.
std::filesystem::path find_file(const std::string& name,
                                const std::vector<std::filesystem::path>& config_path);

// All experiments in those folders: file names without ".toml".
std::vector<std::string> known_experiments(const std::vector<std::filesystem::path>& config_path);

}  // namespace kzoo::experiment
