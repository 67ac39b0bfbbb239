// A plugin from a compiled kernel: the library that launches kernels by their manifest
// (sdk/src/compiled_kernel), followed by the kernels' file, the manifest as JSON, and a footer with
// their lengths. The file has all code, so one hash identifies it.
#pragma once

#include <kzoo/manifest/kernel_manifest.hpp>

#include <cstdint>

#include <nlohmann/json.hpp>

namespace kzoo::manifest {

struct footer {
  std::uint64_t kernel_bytes, manifest_bytes;
  char magic[16];
};
inline constexpr char kFooterMagic[16] = {'k', 'z', 'o', 'o', ' ', 'p', 'a',  'c',
                                          'k', 'e', 'd', ' ', 'v', '1', '\n', '\0'};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(argument, kind, type, expression, map)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(epilogue_stage, kind, operand, type, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(tensor_map, name, matrix, box, swizzle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(kernel_variant, id, summary, entry, type_a, type_b, type_c,
                                   precision, layout, grid, block, cluster, dynamic_shared,
                                   workspace, multiples, row_bytes, compute_capability, reads_c,
                                   nondeterministic, epilogue, scale_block_a, scale_block_b, groups,
                                   arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(kernel_manifest, id, summary, kernel, build, maps, variants)

}  // namespace kzoo::manifest
