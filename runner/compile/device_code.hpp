#pragma once
// Bare kernels of which nothing but device code is compiled, for the library that launches compiled
// kernels: of their source's host code nothing runs.

#include "manifest/variants.hpp"

#include <filesystem>
#include <string_view>

namespace kzoo::compile {

// How they are launched, from the description in the source and what the compiler says of them: PTX
// of the text that mark_text() is behind. Throws input::invalid, for the source, where the PTX
// lacks a mark, or has one that is not as mark_text() writes it.
manifest::kernel_manifest launches_of(const manifest::described_kernels& kernels,
                                      std::string_view ptx, const std::filesystem::path& source);

}  // namespace kzoo::compile
