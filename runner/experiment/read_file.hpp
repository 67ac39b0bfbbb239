#pragma once

#include <filesystem>
#include <string>

namespace kzoo::experiment {

// The whole of an experiment file. Throws `invalid` when it cannot be read or is too large to be
// one. Pipes are fine.
std::string read_file(const std::filesystem::path& path);

}  // namespace kzoo::experiment
