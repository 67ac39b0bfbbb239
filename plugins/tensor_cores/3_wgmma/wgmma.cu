// Hopper's tensor core instruction: four warps multiply 64 rows of A by all of B's tile, both read
// from shared memory by the tensor cores themselves.

#include "kernel.hpp"

using wgmma::tiling;

KZOO_PLUGIN("wgmma", "Warpgroup products from shared memory, tiles copied by cp.async",
            kzoo::variant<wgmma::variant<tiling<128, 64, 4, 2>>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles"),
            kzoo::variant<wgmma::variant<tiling<128, 128, 3, 2>>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM"));
