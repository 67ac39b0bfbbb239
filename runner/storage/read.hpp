#pragma once

#include "results/document.hpp"
#include "storage/journal.hpp"

#include <filesystem>

namespace kzoo::storage {

// Reads stored results: the JSON of a whole run, or a journal. Throws input::invalid with the
// position of the error in the file.
results::document read(const std::filesystem::path& path);

// The same for journals only.
journal_content read_journal_file(const std::filesystem::path& path);

}  // namespace kzoo::storage
