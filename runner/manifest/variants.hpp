#pragma once
// The keys of a manifest for launches and types of kernels (docs/compiled-kernels.md).

#include "core/problem.hpp"
#include "experiment/reader.hpp"

#include <kzoo/manifest/kernel_manifest.hpp>

#include <string>
#include <vector>

namespace kzoo::manifest {

enum class kernel_origin { compiled, source };

struct described_variant {
  kernel_variant launch;              // with the first of its types and layouts
  std::vector<element_types> types;   // several for a template of a source
  std::vector<kzoo::layout> layouts;  // likewise
  bool names_precision = false;
  // The places of its kernel's name and arguments.
  location entry_at, arguments_at;
};

struct described_kernels {
  std::string summary;
  std::vector<tensor_map> maps;
  std::vector<described_variant> variants;
};

// Reads the file's top and its [[variant]] tables. `top`: where to report missing keys. The default
// type of an argument is i32 for a compiled kernel, its parameter's type for a source.
described_kernels read_variants(experiment::table_reader& keys, kernel_origin origin,
                                const location& top, input::diagnostics& report);
// The keys of one that is started by a function of its source's, which decides on the launch, over
// what is known of it.
described_kernels read_started(experiment::table_reader& keys, described_variant known,
                               input::diagnostics& report);

}  // namespace kzoo::manifest
