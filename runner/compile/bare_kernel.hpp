#pragma once
// Kernels that are no plugin, with a description of their launches: a manifest NAME.toml beside
// NAME.cu, or the same keys in `// kzoo:` lines.

#include "manifest/variants.hpp"
#include "source/tensor_functions.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::compile {

// A string literal of C++.
std::string literal(std::string_view text);

// The text of a plugin that launches the kernels, which are in `source`; it includes that by its
// name, so that its folder may have any.
std::string plugin_text(const manifest::described_kernels& kernels,
                        const std::filesystem::path& source);

// The text of a plugin whose function starts its kernels.
std::string plugin_text(const manifest::described_kernels& kernels,
                        const source::tensor_function& function,
                        const std::filesystem::path& source);

// Follows that text if only device code is compiled: for each variant and each of its types, a
// variable with the kernel's address, and a variable with the types of its parameters.
std::string mark_text(const manifest::described_kernels& kernels);

// The variables' names in PTX, before the number of the kernel.
inline constexpr const char* kEntryMark = "kzoo_entry_";
inline constexpr const char* kParametersMark = "kzoo_parameters_";

// Bare kernels of which nothing but device code is compiled, for the library that launches compiled
// kernels: of their source's host code nothing runs.

// How they are launched, from the description in the source and what the compiler says of them: PTX
// of the text that mark_text() is behind. Throws input::invalid, for the source, where the PTX
// lacks a mark, or has one that is not as mark_text() writes it.
manifest::kernel_manifest launches_of(const manifest::described_kernels& kernels,
                                      std::string_view ptx, const std::filesystem::path& source);

}  // namespace kzoo::compile
