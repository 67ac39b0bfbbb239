#pragma once
// An experiment file, read and checked as a whole.

#include "results/experiment.hpp"

#include <filesystem>
#include <string>

namespace kzoo::experiment {

// Reads and checks the whole file. Throws input::invalid; never returns half an experiment.
results::experiment load(const std::filesystem::path& file, const results::overrides& over = {});
// The same for a text that was read earlier; `file` is what errors call it.
results::experiment load_text(const std::filesystem::path& file, std::string file_text,
                              const results::overrides& over = {});

}  // namespace kzoo::experiment
