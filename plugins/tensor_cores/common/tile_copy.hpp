#pragma once
// A block copies a tile of a matrix into shared memory, with zeros past the edges: element (row,
// col) of a tile goes to Tile::offset(row, col). A thread copies kWidth neighbouring elements at a
// time: 16 bytes, asynchronously, where rows are aligned to that; else single elements, through
// registers.

#include <kzoo/async_copy.hpp>
#include <kzoo/gemm.hpp>
#include <tensor_cores/common/thread_map.hpp>

#include <cstddef>
#include <cstdint>

namespace common {

// A row-major matrix.
template <class T>
struct matrix_view {
  const T* data;
  std::ptrdiff_t row_length;  // elements from one row to the next
  int rows, cols;
};

// A and B as they are in memory.
template <class G>
using a_view = matrix_view<typename G::a_type>;
template <class G>
using b_view = matrix_view<typename G::b_type>;
template <class G>
__host__ __device__ a_view<G> a_of(const G& g) {
  if constexpr (G::kATransposed) return {g.a, g.lda, g.k, g.m};
  return {g.a, g.lda, g.m, g.k};
}
template <class G>
__host__ __device__ b_view<G> b_of(const G& g) {
  if constexpr (G::kBTransposed) return {g.b, g.ldb, g.n, g.k};
  return {g.b, g.ldb, g.k, g.n};
}

// Whether its rows start and end at multiples of 16 bytes, so that 16 bytes can be copied at a
// time.
template <class T>
bool rows_of_16_bytes(const matrix_view<T>& x) {
  constexpr int kVector = 16 / int(sizeof(T));
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.row_length % kVector == 0 &&
         x.cols % kVector == 0;
}

// Starts to copy the tile that begins at (row0, col0). All kThreads threads call it.
template <class Tile, int kThreads, int kWidth, class T>
__device__ __forceinline__ void copy_tile(const matrix_view<T>& from, T* tile, int row0, int col0) {
  using map = thread_map<Tile::kRows, Tile::kCols, kThreads, kWidth>;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = map::row(thread), col = map::col(thread);
  const T* source = from.data + (row0 + row) * from.row_length + col0 + col;
#pragma unroll(kWidth > 1 ? map::kRowIterations : 4)
  for (int i = 0; i < map::kRowIterations; ++i) {
#pragma unroll
    for (int j = 0; j < map::kColIterations; ++j) {
      const int down = i * map::kDown, right = j * map::kAcross * kWidth;
      const bool inside = row0 + row + down < from.rows && col0 + col + right < from.cols;
      T* to = tile + Tile::offset(row + down, col + right);
      if constexpr (kWidth > 1) {
        kzoo::copy_async<kWidth * sizeof(T)>(to, source + down * from.row_length + right, inside);
      } else {
        *to = inside ? source[down * from.row_length + right] : T(0);
      }
    }
  }
}

}  // namespace common
