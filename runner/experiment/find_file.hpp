#pragma once
// Finds an experiment file by the name that a user types.

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::experiment {

// Returns `name` if it exists. Else looks in each folder of `config_path` and its experiments/,
// with or without ".toml". Throws input::invalid with every path tried.
std::filesystem::path find_file(const std::string& name,
                                const std::vector<std::filesystem::path>& config_path);

// Returns the names of all experiments in these folders, without ".toml".
std::vector<std::string> known_experiments(const std::vector<std::filesystem::path>& config_path);

}  // namespace kzoo::experiment
