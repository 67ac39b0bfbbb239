#pragma once
// Tensor maps as a manifest describes them.

#include <kzoo/abi.h>
#include <kzoo/manifest/kernel_manifest.hpp>

#include <cuda.h>

namespace kzoo::manifest {

// Maps the problem's matrix at these arguments' addresses. Throws kzoo::error: KZOO_UNAVAILABLE if
// the driver has no tensor maps, KZOO_ERROR if it refuses this map.
CUtensorMap make_tensor_map(const tensor_map& map, const kzoo_problem& p,
                            const kzoo_arguments& args);

}  // namespace kzoo::manifest
