#pragma once
// Kernels that are no plugin, with a description of their launches: a manifest NAME.toml beside
// NAME.cu, or the same keys in `// kzoo:` lines.

#include "compile/tensor_functions.hpp"
#include "manifest/variants.hpp"

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

// The same of one whose function starts its kernels.
std::string plugin_text(const manifest::described_kernels& kernels, const tensor_function& function,
                        const std::filesystem::path& source);

// What follows that text where nothing but its device code is compiled: for each variant, and each
// of its types, a variable with the kernel's address, and one with the types of its parameters.
std::string mark_text(const manifest::described_kernels& kernels);

// The same as PTX has it. Their names, by the number of the kernel.
inline constexpr const char* kEntryMark = "kzoo_entry_";
inline constexpr const char* kParametersMark = "kzoo_parameters_";

}  // namespace kzoo::compile
