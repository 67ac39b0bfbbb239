// Short code for short products.

#include "rolled.hpp"

using rolled::variant;

KZOO_PLUGIN("rolled", "Loops that are not unrolled: for products that end before code is fetched",
            (kzoo::variant<variant<rolled::tile_64x64x16>>("64x64x16_s4", "four blocks per SM")),
            (kzoo::variant<variant<rolled::tile_64x32x32>>("64x32x32_s4_k4", "four slices")),
            (kzoo::variant<variant<rolled::tile_32x32x32>>("32x32x32_s4_k4", "four slices")),
            (kzoo::variant<variant<rolled::tile_64x32x16>>("64x32x16_s3", "two warps a block")),
            (kzoo::variant<variant<rolled::tile_32x64x8>>(
                "32x64x8_s3", "two warps a block; the shortest k tile")));
