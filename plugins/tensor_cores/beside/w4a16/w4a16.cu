// Weights of 4 bits, scaled in blocks of 128 along K, times activations of 16 bits on tensor cores:
// the weights are read as they are, and become operands in registers.

#include "few_rows.hpp"
#include "tiles.hpp"

using w4a16::few_rows;
using w4a16::keep;
using w4a16::tile;
using w4a16::tiles;

KZOO_PLUGIN("w4a16", "Weights of 4 bits with block scales, 16-bit activations, on tensor cores",
            (kzoo::variant<few_rows<16, 3, 2, 1>>("rows_w16", "up to 16 rows; 16 warps per SM")),
            (kzoo::variant<few_rows<16, 3, 2, 1, keep::least>>(
                "rows_w16_first", "the same; weights are the first to leave the L2")),
            (kzoo::variant<few_rows<8, 2, 2, 2>>("rows_w8x2",
                                                 "up to 16 rows; 2 blocks of 8 warps per SM")),
            (kzoo::variant<tiles<tile<32, 6>>>("32x256", "tiles of 32 rows of A; 6 stages")),
            (kzoo::variant<tiles<tile<64, 5>>>("64x256", "tiles of 64 rows of A; 5 stages")));
