// The next tiles are loaded while the current ones are multiplied. The kernel is in
// double_buffer.hpp, because warp_tiles uses it too, with other thread coordinates.

#include "double_buffer.hpp"

namespace {

template <int BM, int BN, int BK, int TM, int TN, class S = common::tiling<BM, BN, BK, TM, TN>>
using tiles = double_buffer::variant<S, common::thread_coords<S>>;

}  // namespace

KZOO_PLUGIN("double_buffer", "Two stages of tiles: the next are loaded while these are multiplied",
            kzoo::variant<tiles<128, 128, 8, 8, 8>>("128x128x8_8x8", "8 steps per barrier"),
            kzoo::variant<tiles<128, 128, 16, 8, 8>>("128x128x16_8x8", "16 steps per barrier"));
