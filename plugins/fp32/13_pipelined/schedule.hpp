#pragma once
// Which block computes what: stream-K for the last wave of tiles, so that no SM idles at the end.
//
// Tiles of C go one to a block, in waves of as many as the device runs at a time. The last wave is
// seldom full: 512 tiles on 132 SMs are three waves and 116 tiles, which take as long as 132. So
// the tiles of the last wave are stream-K tiles: their k tiles (steps of BK along K), those of one
// tile of C after those of the other, are cut into equal shares, one for each block that can run. A
// share may begin or end in the middle of a tile of C; such partial sums go to the workspace, and a
// second kernel adds them up. Where there is less than one wave, all tiles are stream-K tiles.
//
//   tile    0 | 1 | 2 |      3      |      4      |      3 blocks at a time: a wave of 3 tiles,
//   block   0 | 1 | 2 |   3    |    4   |    5    |      then 2 stream-K tiles in 3 shares

#include <fp32/common/threadblock_swizzle.hpp>
#include <fp32/common/warp_tiling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pipelined {

struct schedule {
  int rows, cols;  // tiles of C
  int k_tiles;     // of each tile of C
  int dp_tiles;    // data-parallel: the first so many blocks compute one tile each
  int sk_blocks;   // stream-K: the blocks after them share what is left; 0: nothing is left
  int band;        // see common::threadblock_swizzle

  __host__ __device__ int tiles() const { return rows * cols; }
  __host__ __device__ int blocks() const { return dp_tiles + sk_blocks; }
  __host__ __device__ int sk_tiles() const { return tiles() - dp_tiles; }

  // A block's k tiles are [begin(block), begin(block + 1)), counted through all tiles of C.
  __host__ __device__ std::int64_t begin(int block) const {
    if (block <= dp_tiles) return std::int64_t{block} * k_tiles;
    return std::int64_t{dp_tiles} * k_tiles + (block - dp_tiles) * sk_k_tiles() / sk_blocks;
  }

  // The stream-K block that computes this k tile.
  __host__ __device__ int sk_block_of(std::int64_t k_tile) const {
    const std::int64_t before = std::int64_t{dp_tiles} * k_tiles;
    return dp_tiles + static_cast<int>(((k_tile - before + 1) * sk_blocks - 1) / sk_k_tiles());
  }

  // The workspace slot for a stream-K block's part of a tile. A share is not longer than k_tiles,
  // so it touches two tiles of C at most; `first`: this is the first of them.
  __host__ __device__ int slot(int block, bool first) const {
    return 2 * (block - dp_tiles) + (first ? 0 : 1);
  }
  __host__ __device__ int slots() const { return 2 * sk_blocks; }

  // The running thread's coordinates in a tile of C.
  template <class S>
  __device__ common::warp_thread_coords<S> coords_in(int tile) const {
    const auto position = common::threadblock_swizzle(tile, rows, cols, band);
    common::warp_thread_coords<S> p;
    p.row0 = position.row * S::kBM;
    p.col0 = position.col * S::kBN;
    return p;
  }

 private:
  __host__ __device__ std::int64_t sk_k_tiles() const { return std::int64_t{sk_tiles()} * k_tiles; }
};

// `wave`: blocks that the device runs at a time, at least 1. `fix_up`: how long the second kernel
// takes, in k tiles; stream-K has to save more than that. `aspect`: columns of a tile over its
// rows.
inline schedule make_schedule(int rows, int cols, int k_tiles, int wave, int fix_up,
                              double aspect) {
  const int tiles = rows * cols, rest = tiles % wave;
  const std::int64_t rest_k_tiles = std::int64_t{rest} * k_tiles;
  // A share of one k tile would leave nothing to overlap.
  const std::int64_t shares = std::min<std::int64_t>(wave, rest_k_tiles / 2);
  const bool worth_it = shares > rest && rest_k_tiles / shares + fix_up < k_tiles;
  return {.rows = rows,
          .cols = cols,
          .k_tiles = k_tiles,
          .dp_tiles = worth_it ? tiles - rest : tiles,
          .sk_blocks = worth_it ? static_cast<int>(shares) : 0,
          // What runs together is then about as wide as it is high.
          .band = std::max(1, static_cast<int>(std::lround(std::sqrt(wave * aspect))))};
}

}  // namespace pipelined
