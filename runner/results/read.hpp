#pragma once

#include "results/results.hpp"

#include <filesystem>

namespace kzoo::results {

// Stored results: the JSON of a whole run, or a journal. Throws experiment::invalid with file and
// place for a file that is none.
document read(const std::filesystem::path& file);

}  // namespace kzoo::results
