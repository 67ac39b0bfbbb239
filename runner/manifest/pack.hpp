#pragma once
// Plugins that are our own library, which launches compiled kernels, with these packed behind it:
// no host code of the kernels' author is in them.

#include <kzoo/manifest/kernel_manifest.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::manifest {

// The bytes of the library: see kzoo/manifest/packed_kernel.hpp. `launcher`: the library that
// launches them. Throws input::invalid, for `where`, without that.
std::string pack(const kernel_manifest& m, std::string_view kernels,
                 const std::filesystem::path& launcher, const std::string& where);
// Of a manifest, a TOML file, next to which the kernels' file is. Throws input::invalid for a
// manifest with errors, and for a file that is no cubin, fatbin or PTX, or is cut short.
std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher);

// Whether the library is one that pack() makes with this launcher: what is loaded of it is the
// launcher, byte for byte.
bool is_packed(const std::filesystem::path& library, const std::filesystem::path& launcher);

}  // namespace kzoo::manifest
