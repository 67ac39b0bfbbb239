#pragma once
// Device code that visits all words of a buffer.

#include "data/contents.hpp"
#include "data/rows.hpp"
#include "devices/element_loops.hpp"

namespace kzoo::devices::cuda {

// A matrix with its element type and content as constants.
template <kzoo_type kType, data::content kInside>
struct fixed {
  __device__ static data::matrix of(data::matrix x) {
    x.type = kType;
    x.inside = kInside;
    return x;
  }
  // Usual types have no block scales.
  __device__ static data::scaled_matrix of(data::scaled_matrix x) {
    x.type = kType;
    x.inside = kInside;
    x.extent = 0;
    return x;
  }
};
struct not_fixed {
  template <class Matrix>
  __device__ static Matrix of(const Matrix& x) {
    return x;
  }
};

// Calls launch() with the element type of x, where it is a usual one, and this content as
// constants; whether it did.
template <data::content kInside, class Launch>
constexpr bool with_fixed_type(const data::matrix& x, const Launch& launch) {
  if (x.inside != kInside) return false;
  switch (x.type) {
    case KZOO_F32: launch(fixed<KZOO_F32, kInside>{}); return true;
    case KZOO_F16: launch(fixed<KZOO_F16, kInside>{}); return true;
    case KZOO_BF16: launch(fixed<KZOO_BF16, kInside>{}); return true;
    default: return false;
  }
}

// Calls launch() with `fixed` or not_fixed, for an operand of a product.
template <class Launch>
constexpr void with_fixed_operand(const data::matrix& x, const Launch& launch) {
  if (!with_fixed_type<data::content::uniform>(x, launch)) launch(not_fixed{});
}
// Like the function above, for any buffer.
template <class Launch>
constexpr void with_fixed(const data::matrix& x, const Launch& launch) {
  if (!with_fixed_type<data::content::poison>(x, launch)) with_fixed_operand(x, launch);
}

// The combination of the values of a warp's lanes, in lane 0.
template <class T, class Combine>
__device__ T of_warp(T value, const Combine& combine) {
  constexpr unsigned kAll = 0xffffffffu;
  for (int lanes = int(kWarp) / 2; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_down_sync(kAll, value, lanes));
  return value;
}
template <class T>
__device__ T warp_sum(T part) {
  return of_warp(part, [](T a, T b) { return a + b; });
}

// The threads that visit a buffer together.
struct team {
  static constexpr int kThreads = 256;
  std::int64_t number, count;
  int thread;  // within the team
};
// Makes each block a team.
__device__ inline team team_of_block() {
  return {blockIdx.x, gridDim.x, static_cast<int>(threadIdx.x)};
}

// Teams take turns at tiles of kTileWords words per thread, without an index division for each: of
// a column each, or of a single row every kThreads-th.
constexpr int kTileWords = 16;
constexpr bool is_row(const data::matrix& x) { return x.rows == 1; }
constexpr std::int64_t tiles_across(const data::matrix& x) {
  const std::int64_t columns = is_row(x) ? team::kThreads * kTileWords : team::kThreads;
  return (x.ld + columns - 1) / columns;
}
constexpr std::int64_t tiles_down(const data::matrix& x) {
  return (x.rows + kTileWords - 1) / kTileWords;
}
constexpr std::int64_t tiles_of(const data::matrix& x) {
  return x.count * tiles_down(x) * tiles_across(x);
}

// Calls body(index, row) for the words of a tile; row -1 outside the elements.
template <class Body>
__device__ void for_each_in_tile(const data::matrix& x, std::int64_t tile, int thread,
                                 const Body& body) {
  const std::int64_t across = tiles_across(x), down = tiles_down(x);
  const std::int64_t product = tile / across / down;
  std::int64_t row = tile / across % down * kTileWords;  // within the matrix
  std::int64_t col = tile % across * team::kThreads * (is_row(x) ? kTileWords : 1) + thread;
  if (col >= x.ld) return;
  const std::int64_t left =
      is_row(x) ? (x.ld - col + team::kThreads - 1) / team::kThreads : x.rows - row;
  const int words = static_cast<int>(min(std::int64_t{kTileWords}, left));
  const std::int64_t down_by = is_row(x) ? 0 : 1, across_by = is_row(x) ? team::kThreads : 0;
  std::int64_t index = data::kRedzone + product * x.stride + row * x.ld + col;
  row += product * x.rows;
  for (int i = 0; i < words; ++i) {
    body(index, col < x.cols ? row : -1);
    index += down_by * x.ld + across_by;
    row += down_by;
    col += across_by;
  }
}

// Calls body(index, row) for all words of a buffer, or for those outside the elements alone; their
// row is -1.
template <class Body>
__device__ void for_each_word(const data::matrix& x, const team& mine, const Body& body,
                              bool only_outside = false) {
  if (!only_outside || x.cols < x.ld)
    for (std::int64_t tile = mine.number; tile < tiles_of(x); tile += mine.count)
      for_each_in_tile(x, tile, mine.thread, body);
  const std::int64_t thread = mine.number * team::kThreads + mine.thread;
  const std::int64_t threads = mine.count * team::kThreads;
  const std::int64_t gap = x.count == 1 ? 0 : x.stride - x.rows * x.ld;  // between two matrices
  for (std::int64_t i = thread; i < (x.count - 1) * gap; i += threads)
    body(data::kRedzone + i / gap * x.stride + x.rows * x.ld + i % gap, -1);
  for (std::int64_t i = thread; i < data::kRedzone; i += threads) {
    body(i, -1);
    body(data::word_count(x) - 1 - i, -1);
  }
}

// Original contents of a word in this row, counted over all matrices; -1: not an element.
__device__ inline data::word_bits original(const data::matrix& x, std::int64_t index,
                                           std::int64_t row) {
  return row < 0 || x.inside == data::content::poison
             ? data::poison_bits(x.type, data::hash(x.key, index))
             : data::element_in(x, row, index);
}

template <class Fixed>
__device__ void fill_words(void* buffer, const data::matrix& any, const team& mine) {
  const data::matrix x = Fixed::of(any);
  for_each_word(x, mine, [&](std::int64_t index, std::int64_t row) {
    put_word(buffer, x, index, original(x, index, row));
  });
}

}  // namespace kzoo::devices::cuda
