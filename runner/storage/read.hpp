#pragma once

#include "results/document.hpp"
#include "storage/journal.hpp"

#include <filesystem>

namespace kzoo::storage {

// Reads a run's JSON, or a journal. Throws input::invalid with the error's position in the file.
results::document read(const std::filesystem::path& path);

// Reads journals only.
journal_content read_journal_file(const std::filesystem::path& path);

}  // namespace kzoo::storage
