#pragma once
// Which block computes what, so that no multiprocessor idles at the end.
//
// Tiles of C go one to a block, in waves of as many as the device runs at a time. The last wave is
// seldom full: 512 tiles on 132 multiprocessors are three waves and 116 tiles, which take as long
// as 132. So the tiles of that wave are not computed whole: their steps along K, one tile after the
// other, are cut into equal shares, one for each block that can run. The first and the last tile of
// a share are computed only in part; such partial sums go to the workspace, and a second kernel
// adds them up. Few tiles in all, and their steps are shared from the start.
//
//   tile    0 | 1 | 2 |      3      |      4      |      3 blocks at a time: a wave of 3 tiles,
//   block   0 | 1 | 2 |   3    |    4    |   5    |      then 2 tiles in 3 shares

#include <common/raster.hpp>
#include <common/warp_tiling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pipelined {

struct schedule {
  int rows, cols;  // tiles of C
  int depth;       // steps along K of a tile
  int alone;       // the first so many blocks compute one tile each
  int sharing;     // the blocks after them share what is left; 0: nothing is
  int band;        // see common::banded

  __host__ __device__ int tiles() const { return rows * cols; }
  __host__ __device__ int blocks() const { return alone + sharing; }
  __host__ __device__ int shared_tiles() const { return tiles() - alone; }

  // A block's steps are [begin(block), begin(block + 1)), counted through all tiles.
  __host__ __device__ std::int64_t begin(int block) const {
    if (block <= alone) return std::int64_t{block} * depth;
    return std::int64_t{alone} * depth + (block - alone) * shared_steps() / sharing;
  }

  // Of the blocks that share, the one that computes this step.
  __host__ __device__ int sharer_of(std::int64_t step) const {
    const std::int64_t before = std::int64_t{alone} * depth;
    return alone + static_cast<int>(((step - before + 1) * sharing - 1) / shared_steps());
  }

  // Where in the workspace a sharing block's part of a tile goes. A share is not longer than a
  // tile's steps, so it touches two tiles at most; `begins`: it is the first of them.
  __host__ __device__ int slot(int block, bool begins) const {
    return 2 * (block - alone) + (begins ? 0 : 1);
  }
  __host__ __device__ int slots() const { return 2 * sharing; }

 private:
  __host__ __device__ std::int64_t shared_steps() const {
    return std::int64_t{shared_tiles()} * depth;
  }
};

// The running thread's place in a tile.
template <class S>
__device__ common::warp_place<S> place_in(const schedule& work, int tile) {
  const auto position = common::banded(tile, work.rows, work.cols, work.band);
  common::warp_place<S> p;
  p.row0 = position.row * S::kBM;
  p.col0 = position.col * S::kBN;
  return p;
}

// `at_a_time`: blocks that the device runs together, at least 1. `fix_up`: how long the second
// kernel takes, in steps; sharing has to save more than that. `aspect`: columns of a tile over its
// rows.
inline schedule make_schedule(int rows, int cols, int depth, int at_a_time, int fix_up,
                              double aspect) {
  const int tiles = rows * cols, rest = tiles % at_a_time;
  const std::int64_t rest_steps = std::int64_t{rest} * depth;
  // A share of one step would leave nothing to overlap.
  const std::int64_t shares = std::min<std::int64_t>(at_a_time, rest_steps / 2);
  const bool worth_it = shares > rest && rest_steps / shares + fix_up < depth;
  return {.rows = rows,
          .cols = cols,
          .depth = depth,
          .alone = worth_it ? tiles - rest : tiles,
          .sharing = worth_it ? static_cast<int>(shares) : 0,
          // What runs together is then about as wide as it is high.
          .band = std::max(1, static_cast<int>(std::lround(std::sqrt(at_a_time * aspect))))};
}

}  // namespace pipelined
