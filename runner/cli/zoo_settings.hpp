#pragma once
// How the zoo builds one of its plugins, for a copy of its source.

#include "compile/annotations.hpp"

#include <filesystem>

namespace kzoo::cli {

// What the CMakeLists.txt beside the source says; nothing where there is none. Throws
// input::invalid for a plugin that is built with more than that: other libraries than CUDA's,
// folders of headers.
compile::build_settings zoo_settings(const std::filesystem::path& source);

}  // namespace kzoo::cli
