#pragma once

#include "results/experiment.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::experiment {

// Reads and checks the whole file. Throws input::invalid with all errors found.
results::experiment load(const std::filesystem::path& path, const results::overrides& over = {});
// Checks a text that was read earlier; errors refer to it as `path`.
results::experiment load_text(const std::filesystem::path& path, std::string file_text,
                              const results::overrides& over = {});

// Finds an experiment file by the name that a user types.

// Returns `name` if it exists. Else looks in each folder of `config_path` and its experiments/,
// with or without ".toml". Throws input::invalid with every path tried.
std::filesystem::path find_file(const std::string& name,
                                const std::vector<std::filesystem::path>& config_path);

// Returns the names of all experiments in these folders, without ".toml".
std::vector<std::string> known_experiments(const std::vector<std::filesystem::path>& config_path);

}  // namespace kzoo::experiment
