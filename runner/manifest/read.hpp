#pragma once
// A manifest: a TOML file that says how kernels are launched which know nothing of kernel-zoo.

#include <kzoo/manifest/kernel_manifest.hpp>

#include <filesystem>
#include <string_view>

namespace kzoo::manifest {

// `text` is the manifest's content, `file` its name: errors name it, and its stem is the plugin's
// id. Throws input::invalid with all that is wrong with it.
kernel_manifest read(const std::filesystem::path& file, std::string_view text);

}  // namespace kzoo::manifest
