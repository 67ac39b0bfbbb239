#pragma once
// What `new` and `export` share: folders that they make for the user, and how the zoo builds the
// plugins whose sources they copy.

#include "compile/annotations.hpp"
#include "compile/source_files.hpp"

#include <filesystem>

namespace kzoo::cli {

using compile::file_texts;

// Throws input::invalid where it is there and not empty.
void require_new_folder(const std::filesystem::path& folder);
// All of the files, into a folder that is new or empty, or none: throws input::invalid where a
// folder cannot be made, not_written where a file cannot.
void write_folder(const std::filesystem::path& folder, const file_texts& files);

// What the CMakeLists.txt beside the source says; nothing where there is none. Throws
// input::invalid for a plugin that is built with more than that: other libraries than CUDA's,
// folders of headers.
compile::build_settings zoo_settings(const std::filesystem::path& source);

}  // namespace kzoo::cli
