#pragma once
// Folders of files that a command makes for the user.

#include <filesystem>
#include <map>
#include <string>

namespace kzoo::cli {

// By their path in the folder.
using file_texts = std::map<std::filesystem::path, std::string>;

// Throws input::invalid where it is there and not empty.
void require_new_folder(const std::filesystem::path& folder);
// Throws input::invalid where a folder cannot be made, not_written where a file cannot.
void write_folder(const std::filesystem::path& folder, const file_texts& files);

}  // namespace kzoo::cli
