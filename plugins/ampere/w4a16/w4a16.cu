// Weights of 4 bits, scaled in blocks of 128 along K, times activations of 16 bits on tensor cores:
// the weights are read as they are, and become operands in registers.

#include "few_rows.hpp"
#include "tiles.hpp"

using w4a16::few_rows;
using w4a16::tile;
using w4a16::tiles;

KZOO_PLUGIN("w4a16", "Weights of 4 bits with block scales, 16-bit activations, on tensor cores",
            (kzoo::variant<few_rows>("few_rows", "up to 16 rows of A")),
            (kzoo::variant<tiles<tile<32, 6>>>("32x256", "tiles of 32 rows of A; 6 stages")),
            (kzoo::variant<tiles<tile<64, 5>>>("64x256", "tiles of 64 rows of A; 5 stages")));
