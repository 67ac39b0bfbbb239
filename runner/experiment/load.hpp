#pragma once

#include "results/experiment.hpp"

#include <filesystem>
#include <string>

namespace kzoo::experiment {

// Reads and checks the whole file. Throws input::invalid with all errors found.
results::experiment load(const std::filesystem::path& path, const results::overrides& over = {});
// Checks a text that was read earlier; errors refer to it as `path`.
results::experiment load_text(const std::filesystem::path& path, std::string file_text,
                              const results::overrides& over = {});

}  // namespace kzoo::experiment
