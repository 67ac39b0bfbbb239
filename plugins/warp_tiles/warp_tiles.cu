// A third level of tiles: block, warp, thread. It is double_buffer's kernel; only the place of a
// thread's outputs is another, spread over its warp's part of the block's tile and not over all.

#include <common/warp_tiling.hpp>
#include <double_buffer/double_buffer.hpp>

namespace {

template <class S>
using spread_over_warp = double_buffer::variant<S, common::warp_place<S>>;

}  // namespace

KZOO_PLUGIN("warp_tiles", "A third level of tiles: block, warp, thread",
            kzoo::variant<spread_over_warp<common::warp_tiling<128, 128, 16, 64, 32, 8, 8>>>(
                "128x128x16_64x32_8x8", "64 sums per thread, two blocks on a multiprocessor"),
            kzoo::variant<spread_over_warp<common::warp_tiling<128, 128, 16, 32, 64, 8, 8>>>(
                "128x128x16_32x64_8x8", "the same, and a warp's part is wide"),
            kzoo::variant<spread_over_warp<common::warp_tiling<128, 256, 8, 64, 64, 16, 8>>>(
                "128x256x8_64x64_16x8", "128 sums per thread, one block"));
