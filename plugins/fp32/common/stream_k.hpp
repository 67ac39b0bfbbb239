#pragma once
// Which block computes what: stream-K for the last wave of tiles, so that no SM idles at the end.
//
// Tiles of C go one to a block, in waves of as many as the device runs at a time. The last wave is
// seldom full: 512 tiles on 132 SMs are three waves and 116 tiles, which take as long as 132. So,
// where that saves more than the second kernel costs, the tiles of the last wave are stream-K
// tiles: their k tiles (steps of BK along K), those of one tile of C after those of the other, are
// cut into equal shares, one for each block that can run. A share may begin or end in the middle of
// a tile of C; such partial sums go to the workspace, and a second kernel adds them up. Where there
// is less than one wave, all tiles are stream-K tiles.
//
//   tile    0 | 1 | 2 |      3      |      4      |      3 blocks at a time: a wave of 3 tiles,
//   block   0 | 1 | 2 |   3    |    4   |    5    |      then 2 stream-K tiles in 3 shares
//   slot              |   0    | 2  | 3 |    4    |      of the workspace: two for each share

#include <fp32/common/warp_tiling.hpp>
#include <kzoo/threadblock_swizzle.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace common {

struct stream_k {
  int rows, cols;  // tiles of C
  int k_tiles;     // of each tile of C
  int dp_tiles;    // data-parallel: the first dp_tiles blocks compute one tile each
  int sk_blocks;   // stream-K: the blocks after them share what is left; 0: nothing is left
  int band;        // see kzoo::threadblock_swizzle

  __host__ __device__ int tiles() const { return rows * cols; }
  __host__ __device__ int blocks() const { return dp_tiles + sk_blocks; }
  __host__ __device__ int sk_tiles() const { return tiles() - dp_tiles; }

  // A block's k tiles are [begin(block), begin(block + 1)), counted through all tiles of C.
  __host__ __device__ std::int64_t begin(int block) const {
    if (block <= dp_tiles) return std::int64_t{block} * k_tiles;
    return std::int64_t{dp_tiles} * k_tiles + (block - dp_tiles) * sk_k_tiles() / sk_blocks;
  }

  // A part of one tile of C: `count` of its k tiles, from its k tile `first` on.
  struct tile_work {
    int tile, first, count;
  };
  // The part that begins at k tile `at`, counted through all tiles of C. It ends where the block's
  // share ends, or the tile.
  __host__ __device__ tile_work tile_work_at(std::int64_t at, int block) const {
    const std::int64_t left = begin(block + 1) - at;
    const int tile = static_cast<int>(at / k_tiles), first = static_cast<int>(at % k_tiles);
    return {tile, first, static_cast<int>(left < k_tiles - first ? left : k_tiles - first)};
  }

  // The stream-K block that computes this k tile. With S k tiles to share among n blocks, begin()
  // is floor(b S / n), and x is in block b if floor(b S / n) <= x < floor((b + 1) S / n). So b is
  // the largest with b S / n < x + 1, or b S < (x + 1) n.
  __host__ __device__ int sk_block_of(std::int64_t k_tile) const {
    const std::int64_t before = std::int64_t{dp_tiles} * k_tiles;
    return dp_tiles + static_cast<int>(((k_tile - before + 1) * sk_blocks - 1) / sk_k_tiles());
  }

  // The workspace slot for a stream-K block's part of a tile. A share is not longer than k_tiles,
  // so it touches two tiles of C at most; `first_tile`: this is the first of them.
  __host__ __device__ int slot(int block, bool first_tile) const {
    return 2 * (block - dp_tiles) + (first_tile ? 0 : 1);
  }
  __host__ __device__ int slots() const { return 2 * sk_blocks; }

  // The running thread's coordinates in a tile of C.
  template <class Tile>
  __device__ warp_thread_coords<Tile> coords_in(int tile) const {
    const auto position = kzoo::threadblock_swizzle(tile, rows, cols, band);
    warp_thread_coords<Tile> coords;
    coords.row0 = position.row * Tile::kBM;
    coords.col0 = position.col * Tile::kBN;
    return coords;
  }

 private:
  __host__ __device__ std::int64_t sk_k_tiles() const { return std::int64_t{sk_tiles()} * k_tiles; }
};

// `wave`: blocks that the device runs at a time, at least 1. `fixup_k_tiles`: how long the second
// kernel takes, in k tiles; stream-K has to save more than that. `aspect`: columns of a tile over
// its rows.
inline stream_k make_stream_k(int rows, int cols, int k_tiles, int wave, int fixup_k_tiles,
                              double aspect) {
  const int tiles = rows * cols, rest = tiles % wave;
  const std::int64_t rest_k_tiles = std::int64_t{rest} * k_tiles;
  // A share of one k tile would leave nothing to overlap.
  const std::int64_t shares = std::min<std::int64_t>(wave, rest_k_tiles / 2);
  const bool worth_it = shares > rest && rest_k_tiles / shares + fixup_k_tiles < k_tiles;
  return {.rows = rows,
          .cols = cols,
          .k_tiles = k_tiles,
          .dp_tiles = worth_it ? tiles - rest : tiles,
          .sk_blocks = worth_it ? static_cast<int>(shares) : 0,
          // What runs together is then about as wide as it is high.
          .band = std::max(1, static_cast<int>(std::lround(std::sqrt(wave * aspect))))};
}

// For a kernel with tiles of type Tile (a common::staged), on the device.
template <class Tile>
stream_k make_stream_k(const kzoo_problem& p, const kzoo_device& d) {
  // Where an SM has too little shared memory for kBlocksPerSm blocks, waves are smaller than
  // assumed here: the schedule is still correct, but not the best.
  const int wave =
      Tile::kBlocksPerSm *
      std::max(1, static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors));
  // An estimate in cycles. An SM does 128 FMAs a cycle. The second kernel takes 6000 cycles to
  // start (3 us on an H200 at 1.98 GHz), and then reads two partial tiles for each share at 1500
  // bytes a cycle (3 TB/s).
  constexpr int kCyclesPerKTile = Tile::kBM * Tile::kBN * Tile::kBK / 128 * Tile::kBlocksPerSm;
  const int fixup = 6000 + 2 * wave * Tile::kBM * Tile::kBN * int(sizeof(float)) / 1500;
  const auto tiles_along = [](std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
  };
  return make_stream_k(tiles_along(p.m, Tile::kBM), tiles_along(p.n, Tile::kBN),
                       tiles_along(p.k, Tile::kBK), wave, kzoo::ceil_div(fixup, kCyclesPerKTile),
                       double(Tile::kBN) / Tile::kBM);
}

// Why the tiles of the problem cannot be counted in an int, or nullptr.
template <class Tile>
const char* too_many_tiles(const kzoo_problem& p) {
  const std::int64_t rows = (p.m + Tile::kBM - 1) / Tile::kBM;
  const std::int64_t cols = (p.n + Tile::kBN - 1) / Tile::kBN;
  return rows * cols > INT_MAX / 2 ? "C has more than 2^30 tiles" : nullptr;
}

// The partial sums of one slot: each thread's tile, as float4s, those of the threads of a block
// next to each other.
template <class Tile>
struct partial_sums {
  static constexpr int kPerRow = Tile::kTN / 4, kVec4s = Tile::kTM * kPerRow;
  float4* slots;
  float one;  // 1, a value that the compiler does not know (see pack)

  static std::size_t bytes(const stream_k& work) {
    return sizeof(float4) * kVec4s * Tile::kThreads * work.slots();
  }
  __device__ float4& at(int slot, int v) const {
    const int thread = static_cast<int>(threadIdx.y) * Tile::kThreadsX + threadIdx.x;
    return slots[(std::int64_t{slot} * kVec4s + v) * Tile::kThreads + thread];
  }

  // Four accumulators as they are, times `one`. Without that the four, which are stored together,
  // would have to be in four neighbouring registers all along. That leaves ptxas no choice of
  // register banks, and costs the main loop 7 %. Alpha would do as well, but has to come last:
  // parts that overflow when scaled may have a sum that does not.
  __device__ __forceinline__ float4 pack(const float* acc) const {
    return make_float4(one * acc[0], one * acc[1], one * acc[2], one * acc[3]);
  }
  __device__ __forceinline__ void store_row(int slot, int i, const float (&acc)[Tile::kTN]) const {
#pragma unroll
    for (int j = 0; j < Tile::kTN; j += 4) at(slot, i * kPerRow + j / 4) = pack(&acc[j]);
  }
  // Stores a thread's accumulators in a slot.
  __device__ __forceinline__ void store(int slot, const float (&acc)[Tile::kTM][Tile::kTN]) const {
#pragma unroll
    for (int i = 0; i < Tile::kTM; ++i) store_row(slot, i, acc[i]);
  }
};

// The second kernel adds up partial sums and stores them into C. A block has one stream-K tile
// (blockIdx.x), and of that kVec4sAtATime of each thread's float4s (blockIdx.y).
inline constexpr int kVec4sAtATime = 2;
template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads)
    add_partial_sums(kzoo::gemm<float> g, stream_k work, partial_sums<Tile> sums) {
  const int tile = work.dp_tiles + static_cast<int>(blockIdx.x);
  const std::int64_t tile_begin = std::int64_t{tile} * work.k_tiles;
  const int first = work.sk_block_of(tile_begin),
            last = work.sk_block_of(tile_begin + work.k_tiles - 1);
  if (first == last) return;  // one block computed all of the tile, and has stored it
  // Does this tile come first in the share of block `first`? In the shares of the blocks after it,
  // it does.
  const int first_slot = work.slot(first, work.begin(first) >= tile_begin);
  const auto coords = work.coords_in<Tile>(tile);
#pragma unroll
  for (int x = 0; x < kVec4sAtATime; ++x) {
    const int v = static_cast<int>(blockIdx.y) * kVec4sAtATime + x;
    const int i = v / sums.kPerRow, j = v % sums.kPerRow * 4;
    float4 sum = sums.at(first_slot, v);
#pragma unroll 4
    for (int block = first + 1; block <= last; ++block) {
      const float4 part = sums.at(work.slot(block, true), v);
      sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    float acc[4];
    unpack(sum, acc);
    const int row = coords.row0 + coords.row(i), col = coords.col0 + coords.col(j);
    if (!kAligned || (row < g.m && col < g.n)) store_c<kAligned>(g, row, col, acc);
  }
}

// Enqueues the second kernel, where there are stream-K tiles.
template <class Tile>
void launch_add_partial_sums(const kzoo::gemm<float>& g, const stream_k& work,
                             const partial_sums<Tile>& sums, kzoo::stream_t stream) {
  static_assert(sums.kVec4s % kVec4sAtATime == 0, "every float4 must have its blockIdx.y");
  if (work.sk_blocks == 0) return;
  kzoo::launch({.grid = dim3(work.sk_tiles(), sums.kVec4s / kVec4sAtATime),
                .block = dim3(Tile::kThreadsX, Tile::kThreadsY),
                .max_threads = Tile::kThreads,
                .stream = stream},
               Tile::aligned(g) ? add_partial_sums<Tile, true> : add_partial_sums<Tile, false>, g,
               work, sums);
}

}  // namespace common
