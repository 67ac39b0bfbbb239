#pragma once
// Which parts of which tiles of C a block computes, and in which order.
//
// Clusters take tiles, each kClusterM x kClusterN blocks' tiles. As long as there is a tile for
// every cluster, each takes a whole one. The tiles of the last wave, which would leave clusters
// idle, are shared by all (stream-K): their k tiles, those of one tile after those of the other,
// are cut into equal shares. A share is less than a tile, so it is a part of one, or of two. Shares
// come first, and the whole tiles after them:
//
//   cluster   0          1          2          3         5 tiles, 4 of them whole, in 4 clusters
//   time      4: k 0-3   4: k 4-7   4: k 8-11  4: k 12-15
//      |      0          1          2          3
//
// Where there is not even a tile for every second cluster, K is split instead: each tile is cut
// into as many equal parts as there are clusters for, and a second launch adds them up.

#include <kzoo/gemm.hpp>

#include <algorithm>
#include <cstdint>

namespace persistent {

// A block's tile of C, from element (row, col) on, or the part of it that k tiles [begin, end)
// make.
struct assignment {
  int row, col, begin, end;
  bool backward;    // through K
  int shared_tile;  // its number among the tiles that are shared; -1: it is whole

  __device__ __forceinline__ int count() const { return end - begin; }
  __device__ __forceinline__ int k_tile(int i) const { return backward ? end - 1 - i : begin + i; }
};

// Division by a number that the host knows, in a few cycles; a block that has one tile spends as
// long on the machine's own divisions as on a k tile.
struct divisor {
  int by;
  float reciprocal;

  explicit divisor(int number) : by(number), reciprocal(1.0f / static_cast<float>(number)) {}

  __device__ __forceinline__ int quotient(int x) const {
    int q = static_cast<int>(static_cast<float>(x) * reciprocal);
    q += (x - q * by >= by) - (x - q * by < 0);  // rounding is one off at most, below 2^22
    return q;
  }
};

// What runs at the same time covers a compact part of C. Every second tile goes through K backward,
// and every second band of tiles from right to left: what was read last is read again first, while
// the L2 still has it.
template <class Tile>
struct schedule {
  static constexpr int kBand = 8;  // tiles
  int rows, cols, k_tiles;         // rows and columns in tiles of a cluster
  int clusters, whole;             // clusters that run, tiles that are not shared
  divisor band_tiles;              // tiles of a band
  int each, more;                  // whole tiles of each cluster; the first `more` have one more
  int splits = 1;                  // parts of each tile, if more than one

  // `most`: clusters that the device runs at a time.
  schedule(std::int64_t m, std::int64_t n, std::int64_t k, int most, bool may_split = false)
      : rows(tiles(m, Tile::kBM * Tile::kClusterM)),
        cols(tiles(n, Tile::kBN * Tile::kClusterN)),
        k_tiles(tiles(k, Tile::kBK)),
        clusters(std::min(most, rows * cols)),
        whole(rows * cols),
        band_tiles(kBand * cols) {
    if (may_split) splits = splits_for(most);
    if (splits > 1) {
      clusters = whole * splits;
      whole = each = more = 0;
      return;
    }
    const int rest = whole % most;
    if (Tile::kManyTiles && worth_sharing(std::int64_t{rest} * k_tiles / most)) {
      clusters = most;
      whole -= rest;
    }
    each = whole / clusters;
    more = whole % clusters;
  }

  __host__ __device__ bool shares() const {
    return Tile::kManyTiles && splits == 1 && whole < rows * cols;
  }
  __host__ __device__ int all_tiles() const { return rows * cols; }
  int blocks() const { return clusters * Tile::kCluster; }

  // A cluster's share is [begin(c), begin(c + 1)) of the k tiles of all tiles that are shared.
  __device__ int begin(int c) const {
    if (!shares()) return 0;
    return static_cast<int>(std::int64_t{rows * cols - whole} * k_tiles * c / clusters);
  }

  // The calling block's cluster, and its place there.
  __device__ int cluster() const { return static_cast<int>(blockIdx.x) / Tile::kCluster; }
  __device__ int m_rank() const {
    return static_cast<int>(blockIdx.x) % Tile::kCluster % Tile::kClusterM;
  }
  __device__ int n_rank() const {
    return static_cast<int>(blockIdx.x) % Tile::kCluster / Tile::kClusterM;
  }

  // How many assignments the calling block has, their k tiles together, and the assignment `turn`.
  __device__ int turns() const { return splits > 1 ? 1 : parts() + whole_turns(); }
  __device__ int all_k_tiles() const {
    if (splits > 1) return at(0).count();
    return begin(cluster() + 1) - begin(cluster()) + whole_turns() * k_tiles;
  }
  __device__ assignment at(int turn) const {
    if (splits > 1) {
      const int tile = cluster() % all_tiles(), split = cluster() / all_tiles();
      return part(tile, first_of(split), first_of(split + 1), false, tile);
    }
    if (turn >= parts()) return whole_tile(turn - parts());
    const int first = begin(cluster()), last = begin(cluster() + 1);
    const int tile = first / k_tiles + turn;
    return part(whole + tile, max(first - tile * k_tiles, 0), min(last - tile * k_tiles, k_tiles),
                false, tile);
  }

  // Where no tile is shared or split: the assignment `turn`.
  __device__ assignment whole_tile(int turn) const {
    return part(cluster() + turn * clusters, 0, k_tiles, turn % 2 == 1, -1);
  }

  struct element {
    int row, col;
  };
  // Where the tile of C begins that a block of a cluster has.
  __device__ element origin(int tile, int m_rank, int n_rank) const {
    // Down the rows of a band, then one to the right, or to the left.
    const int band = band_tiles.quotient(tile), in_band = tile - band * band_tiles.by;
    const int height = min(kBand, rows - band * kBand);
    const int right = height == kBand ? in_band / kBand : in_band / height;
    const int row = band * kBand + in_band - right * height;
    const int col = band % 2 == 0 ? right : cols - 1 - right;
    return {(row * Tile::kClusterM + m_rank) * Tile::kBM,
            (col * Tile::kClusterN + n_rank) * Tile::kBN};
  }

 private:
  // Sharing costs the time of some k tiles, for sums that go through the workspace. And clusters
  // that read K in different places at the same time find little of it in the L2: a share takes
  // some half as long again, and without multicast twice as long.
  bool worth_sharing(std::int64_t share) const {
    constexpr int kSums = 8;
    return share >= kSums && k_tiles - share >= kSums + share / Tile::kCluster;
  }
  // The launch that adds the parts up takes as long as some k tiles, and so do the parts' way to
  // it.
  int splits_for(int most) const {
    constexpr int kLeastPart = 8, kSums = 16;
    const int parts = std::min(most / whole, k_tiles / kLeastPart);
    return parts > 1 && k_tiles - k_tiles / parts >= kSums ? parts : 1;
  }
  static int tiles(std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
  }
  __device__ int first_of(int split) const {
    return static_cast<int>(std::int64_t{k_tiles} * split / splits);
  }
  __device__ int whole_turns() const { return each + (cluster() < more); }
  __device__ int parts() const {
    if (!shares()) return 0;
    const int first = begin(cluster()), last = begin(cluster() + 1);
    return first == last ? 0 : (last - 1) / k_tiles - first / k_tiles + 1;
  }
  __device__ assignment part(int tile, int first, int last, bool backward, int shared_tile) const {
    const auto [row, col] = origin(tile, m_rank(), n_rank());
    return {row, col, first, last, backward, shared_tile};
  }
};

}  // namespace persistent
