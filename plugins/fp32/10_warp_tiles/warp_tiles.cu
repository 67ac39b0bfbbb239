// A third level of tiles: block, warp, thread. The kernel is double_buffer's; what changes is which
// elements of the block's tile are a thread's: they are interleaved over its warp's tile.

#include <fp32/09_double_buffer/double_buffer.hpp>
#include <fp32/common/warp_tiling.hpp>

namespace {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN,
          class S = common::warp_tiling<BM, BN, BK, WM, WN, TM, TN>>
using tiles = double_buffer::variant<S, common::warp_thread_coords<S>>;

}  // namespace

KZOO_PLUGIN("warp_tiles", "A third level of tiles: block, warp, thread",
            kzoo::variant<tiles<128, 128, 16, 64, 32, 8, 8>>(
                "128x128x16_64x32_8x8", "64 accumulators per thread, two blocks per SM"),
            kzoo::variant<tiles<128, 128, 16, 32, 64, 8, 8>>(
                "128x128x16_32x64_8x8", "the same with warp tiles wider than high"),
            kzoo::variant<tiles<128, 256, 8, 64, 64, 16, 8>>(
                "128x256x8_64x64_16x8", "128 accumulators per thread, one block per SM"));
