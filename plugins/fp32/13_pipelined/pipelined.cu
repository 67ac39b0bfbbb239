// The fp32 ladder's last step. The kernel is in pipelined.hpp, as strassen multiplies with it, too.

#include "pipelined.hpp"

using pipelined::variant;

KZOO_PLUGIN(
    "pipelined", "stream_k with its barrier one k step earlier, and sliced-K",
    (kzoo::variant<variant<128, 256, 16, 5, 1, 1>>("128x256x16_s5",
                                                   "5 stages, large tiles, for large problems")),
    (kzoo::variant<variant<128, 64, 32, 4, 4, 1>>("128x64x32_s4_k4",
                                                  "4 stages, small tiles, sliced-K with 4 slices")),
    (kzoo::variant<variant<64, 64, 32, 4, 4, 2>>(
        "64x64x32_s4_k4", "the same with half the tile, two blocks per SM")));
