#pragma once

#include "results/document.hpp"

#include <filesystem>

namespace kzoo::storage {

// Stored results: the JSON of a whole run, or a journal. Throws experiment::invalid with file and
// place for a file that is none.
results::document read(const std::filesystem::path& file);

}  // namespace kzoo::storage
