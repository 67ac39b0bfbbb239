#pragma once
// The build of a plugin that records its accesses: made when it is first asked for, and again when
// its sources have changed, by the build that the plugin is from.

#include <filesystem>

namespace kzoo::xray {

// The analysed build of the plugin in `file`, FOLDER/cpu/NAME.so. Throws failure, unavailable or
// error, with what to do.
std::filesystem::path analysed_build(const std::filesystem::path& file);

// The one that is there already; empty if there is none, or only one of an older plugin.
std::filesystem::path existing_build(const std::filesystem::path& file);

}  // namespace kzoo::xray
