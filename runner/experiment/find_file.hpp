#pragma once
// Which experiment file a user means.

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::experiment {

// Where `name` is: itself if it exists, else under each folder of `config_path` in turn, with or
// without ".toml". Throws input::invalid naming every place looked at.
std::filesystem::path find_file(const std::string& name,
                                const std::vector<std::filesystem::path>& config_path);

}  // namespace kzoo::experiment
