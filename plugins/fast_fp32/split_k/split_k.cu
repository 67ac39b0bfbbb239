// Small tiles, and K divided between blocks, in one launch where parts are small: for products that
// are too small to fill an SM each with a large tile.

#include "split_k.hpp"

using split_k::tiling;
using split_k::variant;

KZOO_PLUGIN("split_k",
            "pipelined with K divided between blocks; small parts are added up in the same launch",
            (kzoo::variant<variant<tiling<32, 32, 32, 32, 32, 8, 4, 4, 4, 4>, true>>(
                "32x32x32_s4_k4", "the smallest tile: 256 of them at 512, four blocks per SM")),
            (kzoo::variant<variant<tiling<64, 32, 32, 64, 32, 8, 8, 4, 4, 3>, false>>(
                "64x32x32_s4_k4", "three blocks per SM")),
            (kzoo::variant<variant<tiling<64, 64, 32, 64, 64, 16, 8, 4, 4, 2>, false>>(
                "64x64x32_s4_k4", "pipelined's smallest tile, two blocks per SM")),
            (kzoo::variant<variant<tiling<128, 128, 16, 64, 64, 16, 8, 4, 1, 2>, true>>(
                "128x128x16_s4", "for ragged sizes: half of pipelined's large tile")));
