// Weights of 4 bits, scaled in blocks of 128 along K, times activations of 16 bits on tensor cores:
// the weights are read as they are, and become operands in registers.

#include "few_rows.hpp"
#include "tiles.hpp"

using w4a16::few_rows;
using w4a16::tile;
using w4a16::tiles;

KZOO_PLUGIN("w4a16", "Weights of 4 bits with block scales, 16-bit activations, on tensor cores",
            (kzoo::variant<few_rows<16, 1, 4, 1, 1>>("w16_d4", "up to 16 rows; 16 warps per SM")),
            (kzoo::variant<few_rows<16, 1, 4, 2, 2, 256>>("w16_d4_p2", "parts of K")),
            (kzoo::variant<few_rows<16, 1, 6, 1, 4>>("w16_d6_p4", "parts of K")),
            (kzoo::variant<few_rows<24, 1, 3, 1, 0>>("w24_d3", "24 warps")),
            (kzoo::variant<few_rows<32, 1, 2, 1, 0>>("w32_d2", "32 warps")),
            (kzoo::variant<few_rows<8, 4, 2, 1, 0>>("w8x4_d2", "32 warps")),
            (kzoo::variant<tiles<tile<32, 6>>>("32x256", "tiles of 32 rows of A; 6 stages")),
            (kzoo::variant<tiles<tile<64, 5>>>("64x256", "tiles of 64 rows of A; 5 stages")));
