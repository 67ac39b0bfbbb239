#pragma once
// The build of a plugin that records its accesses, made by the plugin's own build when needed.

#include <filesystem>

namespace kzoo::xray {

// Returns the analysed build of FOLDER/cpu/NAME.so. Throws failure, unavailable or error.
std::filesystem::path analysed_build(const std::filesystem::path& file);

// Returns the existing analysed build; empty if there is none, or only an older plugin's.
std::filesystem::path existing_build(const std::filesystem::path& file);

}  // namespace kzoo::xray
