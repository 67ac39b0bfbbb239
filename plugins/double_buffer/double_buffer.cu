// The next tiles arrive while these are multiplied. The kernel is in the header: warp_tiles has it
// too, with other places for the threads.

#include "double_buffer.hpp"

namespace {

template <class S>
using spread_over_block = double_buffer::variant<S, common::place<S>>;

}  // namespace

KZOO_PLUGIN("double_buffer", "Two stages of tiles: the next ones arrive while these are multiplied",
            kzoo::variant<spread_over_block<common::tiling<128, 128, 8, 8, 8>>>(
                "128x128x8_8x8", "256 threads, 8 steps per barrier"),
            kzoo::variant<spread_over_block<common::tiling<128, 128, 16, 8, 8>>>(
                "128x128x16_8x8", "256 threads, 16 steps per barrier"));
