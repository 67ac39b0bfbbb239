#pragma once
// Plugins from our launcher with compiled kernels behind it, without their author's host code.

#include <kzoo/manifest/kernel_manifest.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::manifest {

// The library's bytes (kzoo/manifest/packed_kernel.hpp). `launcher`: the library that launches the
// kernels. Throws input::invalid at `where` if it is missing.
std::string pack(const kernel_manifest& m, std::string_view kernels,
                 const std::filesystem::path& launcher, const std::string& where);
// Packs a TOML manifest, with the kernels' file next to it. Throws input::invalid for errors in the
// manifest, and for a truncated file or one that is no cubin, fatbin or PTX.
std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher);

// Whether pack() makes the library with this launcher: its code is the launcher, byte for byte.
bool is_packed(const std::filesystem::path& library, const std::filesystem::path& launcher);

}  // namespace kzoo::manifest
