// stream_k with early fragments. The kernel is in pipelined.hpp, as strassen multiplies with it,
// too.

#include "pipelined.hpp"

using pipelined::variant;

KZOO_PLUGIN("pipelined", "stream_k with its barrier one k step earlier",
            (kzoo::variant<variant<128, 256, 16, 5, 1>>("128x256x16_s5", "5 stages, large tiles")));
