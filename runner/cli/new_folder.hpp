#pragma once
// Folders of files that a command makes for the user.

#include "compile/source_files.hpp"

#include <filesystem>

namespace kzoo::cli {

using compile::file_texts;

// Throws input::invalid where it is there and not empty.
void require_new_folder(const std::filesystem::path& folder);
// Throws input::invalid where a folder cannot be made, not_written where a file cannot.
void write_folder(const std::filesystem::path& folder, const file_texts& files);

}  // namespace kzoo::cli
