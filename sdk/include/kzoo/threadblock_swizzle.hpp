#pragma once
// Tile rasterisation: the order in which blocks take tiles of C.

#include <kzoo/cuda.hpp>

namespace kzoo {

// The position of a tile of C.
struct tile_position {
  int row, col;  // in tiles
};

// Position of tile `index` of rows x cols: down `band` tiles, then one to the right, to the end of
// the band, then the next band. Concurrent blocks cover a compact part of C and share rows of A and
// columns of B in the L2.
//
//   band = 2    0 2 4 6
//               1 3 5 7
//               8 10 ..
__device__ inline tile_position threadblock_swizzle(int index, int rows, int cols, int band) {
  const int first_row = index / (band * cols) * band, in_band = index % (band * cols);
  const int height = min(band, rows - first_row);
  return {first_row + in_band % height, in_band / height};
}

}  // namespace kzoo
