#pragma once
// A tile of a row-major matrix in shared memory in the 128-byte swizzle of tensor cores and TMA.
// The type defines an element's place for all uses of the tile: manual copies, ldmatrix (mma.hpp),
// wgmma (wgmma.hpp) and TMA (tma.hpp).
//
// The tile consists of panels with 128 bytes per row, one after the other. Row r of a panel has its
// eight 16-byte chunks in the order c ^ (r % 8). Both eight rows of a column and eight chunks of a
// row then touch all 32 banks.
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

// The tile's type: Rows x Cols elements of type T, Rows a multiple of 8.
template <class T, int Rows, int Cols>
struct swizzled_tile {
  using element = T;                                                          // of the matrix
  static constexpr int kRows = Rows, kCols = Cols;                            // elements
  static constexpr int kRowBytes = 128, kChunkBytes = 16, kAlignment = 1024;  // bytes
  static constexpr int kPanelCols = kRowBytes / int(sizeof(T));               // elements
  static constexpr int kPanels = Cols / kPanelCols;                           // side by side
  static constexpr int kChunk = kChunkBytes / int(sizeof(T));                 // elements
  static constexpr int kPanelElements = Rows * kPanelCols;                    // in one panel
  static constexpr int kElements = Rows * Cols;                               // in the tile
  static constexpr int kBytes = kElements * int(sizeof(T));                   // of shared memory
  static_assert(Cols % kPanelCols == 0, "a tile is as wide as one or more panels of 128 bytes");
  static_assert(Rows % 8 == 0, "the swizzle repeats every 8 rows");

  // Position of element (row, col), in elements from the beginning of the tile.
  static constexpr __host__ __device__ int offset(int row, int col) {
    const int chunk = col % kPanelCols / kChunk;
    return col / kPanelCols * kPanelElements + row * kPanelCols + (chunk ^ (row % 8)) * kChunk +
           col % kChunk;
  }
};

}  // namespace kzoo
