#pragma once
// Plugins from our launcher with compiled kernels behind it, without their author's host code.

#include "input/diagnostics.hpp"

#include <kzoo/manifest/kernel_manifest.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// Why CUDA cannot load a file of compiled kernels (cubin, fatbin, PTX), from its first bytes and
// length; absent if it can.
std::optional<std::string> flaw_in(std::string_view bytes);

// The mangled names in a cubin or PTX. None for a fatbin, whose parts are compressed.
std::vector<std::string> kernel_names(std::string_view bytes);

// Kernels that match `entry`: "_Z5sgemmILi64EEvPf", or in C++ "sgemm<64>" or "void
// sgemm<(int)64>(float*)". Ignores function parameters and the types of numbers.
std::vector<std::string> kernels_called(const std::string& entry,
                                        const std::vector<std::string>& names);

// Reads a manifest: a TOML file with the launches of kernels that do not know kernel-zoo. `file`:
// for errors; its stem is the plugin's id. Throws input::invalid with all errors.
kernel_manifest read(const std::filesystem::path& file, std::string_view text);

// What launches compiled kernels is not built here; the manifest is not to blame.
class no_launcher : public input::invalid {
 public:
  using invalid::invalid;
};

// The library's bytes (kzoo/manifest/packed_kernel.hpp). `launcher`: the library that launches the
// kernels. Throws no_launcher at `where` if it is missing.
std::string pack(const kernel_manifest& m, std::string_view kernels,
                 const std::filesystem::path& launcher, const std::string& where);
// Packs a TOML manifest, with the kernels' file next to it. Throws input::invalid for errors in the
// manifest, and for a truncated file or one that is no cubin, fatbin or PTX.
std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher);

// Whether pack() makes the library with this launcher: its code is the launcher, byte for byte.
bool is_packed(const std::filesystem::path& library, const std::filesystem::path& launcher);

}  // namespace kzoo::manifest
