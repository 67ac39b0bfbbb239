#pragma once
// Bare kernels: sources without KZOO_PLUGIN, with a description of their launches in a manifest
// NAME.toml next to NAME.cu, or in `// kzoo:` lines.

#include "manifest/variants.hpp"
#include "source/tensor_functions.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::compile {

// The text as a string literal of C++.
std::string literal(std::string_view text);

// The text of a plugin that launches the kernels in `source`. It includes the source by its file
// name, without a folder.
std::string plugin_text(const manifest::described_kernels& kernels,
                        const std::filesystem::path& source);

// The text of a plugin that calls the source's function, which launches the kernels.
std::string plugin_text(const manifest::described_kernels& kernels,
                        const source::tensor_function& function,
                        const std::filesystem::path& source);

// The text appended to a plugin if only its device code is compiled: for each variant and type, a
// variable with the kernel's address and a variable with the types of its parameters.
std::string mark_text(const manifest::described_kernels& kernels);

// The beginnings of these variables' names in PTX; the kernel's number follows.
inline constexpr const char* kEntryMark = "kzoo_entry_";
inline constexpr const char* kParametersMark = "kzoo_parameters_";

// The manifest of bare kernels whose device code alone is compiled, so that no host code of their
// author runs: the source's description, with symbols and parameter types from mark_text()'s
// variables in `ptx`. Throws input::invalid, about the source, if a variable is missing or wrong.
manifest::kernel_manifest launches_of(const manifest::described_kernels& kernels,
                                      std::string_view ptx, const std::filesystem::path& source);

}  // namespace kzoo::compile
