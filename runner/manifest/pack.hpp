#pragma once
// A plugin from a manifest and the compiled kernels that it names, without a compiler.

#include <filesystem>
#include <string>

namespace kzoo::manifest {

// The bytes of the library: see kzoo/manifest/packed_kernel.hpp. `manifest` is the TOML file, next
// to which the kernels' file is; `launcher` the library that launches them. Throws input::invalid
// for a manifest with errors, and for a file that is no cubin, fatbin or PTX, or is cut short.
std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher);

}  // namespace kzoo::manifest
