#pragma once
// Tensor maps as a manifest describes them.

#include <kzoo/abi.h>
#include <kzoo/manifest/kernel_manifest.hpp>

#include <cuda.h>

namespace kzoo::manifest {

// The matrix of this problem, where these arguments say that it is. Throws kzoo::error:
// KZOO_UNAVAILABLE where the driver has no tensor maps, KZOO_ERROR where it refuses this one.
CUtensorMap make_tensor_map(const tensor_map& map, const kzoo_problem& p,
                            const kzoo_arguments& args);

}  // namespace kzoo::manifest
