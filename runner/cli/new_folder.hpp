#pragma once
// New folders of `new` and `export`, and the zoo's build settings of the sources copied there.

#include "source/annotations.hpp"
#include "source/files.hpp"

#include <filesystem>

namespace kzoo::cli {

using source::file_texts;

// Throws input::invalid if it exists and is not empty.
void require_new_folder(const std::filesystem::path& folder);
// Writes all files into a new or empty folder, or none. Throws input::invalid or not_written.
void write_folder(const std::filesystem::path& folder, const file_texts& files);

// The settings in the CMakeLists.txt next to the source; default if there is none. Throws
// input::invalid for other libraries than CUDA's and for include folders.
source::build_settings zoo_settings(const std::filesystem::path& source);

}  // namespace kzoo::cli
