#pragma once
// The order in which tiles of C are taken up.

#include <kzoo/cuda.hpp>

namespace common {

struct tile_position {
  int row, col;  // in tiles
};

// Number `index` of rows x cols tiles: down `band` tiles before one to the right, and the next band
// when this one is through. Blocks that run at the same time then cover a compact piece
// of C, share rows of A and columns of B, and meet in the L2.
__device__ inline tile_position banded(int index, int rows, int cols, int band) {
  const int first_row = index / (band * cols) * band, in_band = index % (band * cols);
  const int height = min(band, rows - first_row);
  return {first_row + in_band % height, in_band / height};
}

}  // namespace common
