// Any layout and any leading dimension: what the fast kernel cannot read is copied first.

#include "repacked.hpp"

using repacked::variant;
using split_k::tiling;

KZOO_PLUGIN("repacked", "Transposed or ragged operands copied into padded rows, then split_k",
            (kzoo::variant<variant<tiling<128, 256, 16, 64, 64, 16, 8, 5, 1, 1>, false>>(
                "128x256x16_s5", "pipelined's large tile, in one launch")),
            (kzoo::variant<variant<tiling<128, 128, 16, 64, 64, 16, 8, 4, 1, 2>, false>>(
                "128x128x16_s4", "half of it: less beyond the edges of ragged matrices")),
            (kzoo::variant<variant<tiling<64, 64, 32, 64, 64, 16, 8, 4, 4, 2>, true>>(
                "64x64x32_s4_k4", "for small ones")));
