#pragma once
// A tile of a row-major matrix in shared memory, in the order that the tensor cores and the copy
// engine call the 128-byte swizzle. One type says where an element is for all who use the tile:
// copies written by hand, ldmatrix (mma.hpp), wgmma (wgmma.hpp) and TMA (tma.hpp).
//
// The tile is cut into panels of 128 bytes a row, one panel after the other. In a panel, row r has
// its eight chunks of 16 bytes in the order c ^ (r % 8), so that eight rows at the same column, and
// eight chunks of the same row, both touch all 32 banks.
//
//   a panel    chunk 0   1   2   3   4   5   6   7
//      row 0         0   1   2   3   4   5   6   7      <- columns / 8, for 16-bit elements
//      row 1         1   0   3   2   5   4   7   6
//      row 2         2   3   0   1   6   7   4   5
//      ...
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Tensor swizzling
// modes". Tiles must start at a multiple of 1024 bytes, as dynamic_shared() does.

#include <kzoo/cuda.hpp>

namespace kzoo {

template <class T, int Rows, int Cols>
struct swizzled_tile {
  using element = T;
  static constexpr int kRows = Rows, kCols = Cols;
  static constexpr int kRowBytes = 128, kChunkBytes = 16, kAlignment = 1024;
  static constexpr int kPanelCols = kRowBytes / int(sizeof(T)), kPanels = Cols / kPanelCols;
  static constexpr int kChunk = kChunkBytes / int(sizeof(T));  // elements
  static constexpr int kPanelElements = Rows * kPanelCols;
  static constexpr int kElements = Rows * Cols, kBytes = kElements * int(sizeof(T));
  static_assert(Cols % kPanelCols == 0, "a tile is as wide as one or more panels of 128 bytes");
  static_assert(Rows % 8 == 0, "the swizzle repeats every 8 rows");

  // Where element (row, col) is, in elements from the beginning of the tile.
  static constexpr __host__ __device__ int offset(int row, int col) {
    const int chunk = col % kPanelCols / kChunk;
    return col / kPanelCols * kPanelElements + row * kPanelCols + (chunk ^ (row % 8)) * kChunk +
           col % kChunk;
  }
};

}  // namespace kzoo
