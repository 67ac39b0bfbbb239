#pragma once
// The keys of a manifest that say how kernels are launched and what they compute, the same for
// kernels of a compiled file and of a source: docs/compiled-kernels.md has the table.

#include "core/problem.hpp"
#include "experiment/reader.hpp"

#include <kzoo/manifest/kernel_manifest.hpp>

#include <string>
#include <vector>

namespace kzoo::manifest {

enum class kernel_origin { compiled, source };

// A kernel and its launch.
struct described_variant {
  kernel_variant launch;              // with the first of its types and layouts
  std::vector<element_types> types;   // several for a template of a source
  std::vector<kzoo::layout> layouts;  // the same
  bool names_precision = false;
  // Where its kernel is named, and what it gets.
  location entry_at, arguments_at;
};

struct described_kernels {
  std::string summary;
  std::vector<tensor_map> maps;
  std::vector<described_variant> variants;
};

// Reads them from the top of the file and from its [[variant]] tables, and reports what is wrong.
// `top`: where to say what is missing. A kernel whose arguments have no type gets i32 where it is
// compiled, and the type of its parameter where it is in a source.
described_kernels read_variants(experiment::table_reader& keys, kernel_origin origin,
                                const location& top, input::diagnostics& report);

}  // namespace kzoo::manifest
