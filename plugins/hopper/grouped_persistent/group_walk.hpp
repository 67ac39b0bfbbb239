#pragma once
// The tiles of C of all groups, numbered through, and a warp's way from one to the next. How many
// there are depends on where groups begin, which the device alone knows, and so no block is told:
// each goes on until it finds no more.
//
// A tile is of one group. The last ones of a group may have fewer rows than others, and what a
// tile of A has below them belongs to the next group: it is loaded, and never stored.
//
//   offsets 0 3 3 8, tiles of 2 rows, two beside each other:
//
//     row 0    0  2     group 0 begins with tile 0
//         2    1  3     one row
//         3    4  7     group 1 is empty, group 2 begins with tile 4
//         5    5  8
//         7    6  9     one row
//
// In a group tiles run down, and then one to the right, so that those which read the same columns
// of B run together: of a group with few rows B is most of what has to be read. Groups with more
// than kBand tiles below each other are cut into bands of so many.

#include <kzoo/gemm.hpp>

namespace grouped_persistent {

// Where a tile of a cluster begins in C, in which group, and the first row below that group.
struct group_tile {
  int group, row, col, end;
};

template <class Tile>
class group_walk {
 public:
  static constexpr int kBand = 16;
  static constexpr int kRows = Tile::kBM * Tile::kClusterM, kCols = Tile::kBN * Tile::kClusterN;

  // Of C's `n` columns, and groups that begin at offsets[0], offsets[1], …, in device memory.
  __device__ __forceinline__ group_walk(const int* offsets, int groups, int n)
      : offsets_(offsets), groups_(groups), n_(n) {}

  // Finds tile `number`, which is larger than those before; false if there are no so many. A whole
  // warp calls this: each lane looks at a group.
  __device__ __forceinline__ bool find(int number, group_tile& found) {
    constexpr unsigned kAll = 0xffffffffu;
    const int lane = static_cast<int>(threadIdx.x) % 32, cols = kzoo::ceil_div(n_, kCols);
    for (; group_ < groups_; group_ += 32) {
      const int begin = __ldg(offsets_ + min(group_ + lane, groups_));
      const int end = __ldg(offsets_ + min(group_ + lane + 1, groups_));
      const int tiles = kzoo::ceil_div(end - begin, kRows) * cols;
      int past = first_ + tiles;  // number of the first tile after this lane's group
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(kAll, past, step);
        if (lane >= step) past += before - first_;
      }
      const int owner = __popc(__ballot_sync(kAll, past <= number));
      if (owner < 32) {
        group_ += owner;
        first_ = __shfl_sync(kAll, past - tiles, owner);
        const int top = __shfl_sync(kAll, begin, owner);
        found.group = group_;
        found.end = __shfl_sync(kAll, end, owner);
        place(number - first_, kzoo::ceil_div(found.end - top, kRows), cols, found);
        found.row += top;
        return true;
      }
      first_ = __shfl_sync(kAll, past, 31);
    }
    return false;
  }

 private:
  // Row and column of tile `i` of a group that has `rows` x `cols`.
  static __device__ __forceinline__ void place(int i, int rows, int cols, group_tile& found) {
    const int band = i / (kBand * cols), in_band = i - band * kBand * cols;
    const int height = min(kBand, rows - band * kBand), right = in_band / height;
    found.row = (band * kBand + in_band - right * height) * kRows;
    found.col = right * kCols;
  }

  const int* offsets_;
  int groups_, n_;
  int group_ = 0, first_ = 0;  // where the search goes on, and that group's first tile
};

}  // namespace grouped_persistent
