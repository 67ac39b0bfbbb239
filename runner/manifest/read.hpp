#pragma once
// A manifest: a TOML file with the launches of kernels that do not know kernel-zoo.

#include <kzoo/manifest/kernel_manifest.hpp>

#include <filesystem>
#include <string_view>

namespace kzoo::manifest {

// `file`: for errors; its stem is the plugin's id. Throws input::invalid with all errors.
kernel_manifest read(const std::filesystem::path& file, std::string_view text);

}  // namespace kzoo::manifest
