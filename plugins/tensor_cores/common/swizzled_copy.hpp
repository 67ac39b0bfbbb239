#pragma once
// A block copies a tile of a matrix into shared memory, swizzled, with zeros past the edges. A
// thread copies kWidth neighbouring elements at a time: 16 bytes, asynchronously, where rows are
// aligned to that; else single elements, through registers.

#include <kzoo/async_copy.hpp>
#include <kzoo/swizzled_tile.hpp>
#include <tensor_cores/common/thread_map.hpp>

#include <cstddef>

namespace common {

// A row-major matrix.
template <class T>
struct matrix_view {
  const T* data;
  std::ptrdiff_t row_length;  // elements from one row to the next
  int rows, cols;
};

// Starts to copy the tile that begins at (row0, col0). All kThreads threads call it.
template <class KTile, int kThreads, int kWidth, class T>
__device__ __forceinline__ void swizzled_copy(const matrix_view<T>& from, T* tile, int row0,
                                              int col0) {
  using map = thread_map<KTile::kRows, KTile::kCols, kThreads, kWidth>;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = map::row(thread), col = map::col(thread);
  const T* source = from.data + (row0 + row) * from.row_length + col0 + col;
#pragma unroll(kWidth > 1 ? map::kRowIterations : 4)
  for (int i = 0; i < map::kRowIterations; ++i) {
#pragma unroll
    for (int j = 0; j < map::kColIterations; ++j) {
      const int down = i * map::kDown, right = j * map::kAcross * kWidth;
      const bool inside = row0 + row + down < from.rows && col0 + col + right < from.cols;
      T* to = tile + KTile::offset(row + down, col + right);
      if constexpr (kWidth > 1) {
        kzoo::copy_async<kWidth * sizeof(T)>(to, source + down * from.row_length + right, inside);
      } else {
        *to = inside ? source[down * from.row_length + right] : T(0);
      }
    }
  }
}

}  // namespace common
