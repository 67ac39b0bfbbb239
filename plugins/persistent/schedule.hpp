#pragma once
// Which tiles of C a block computes, and in which order.

#include <common/threadblock_swizzle.hpp>
#include <kzoo/gemm.hpp>

namespace persistent {

// The first element of a block's tile of C, and the direction in which it goes through K.
struct assignment {
  int row, col;
  bool backward;

  __device__ __forceinline__ int k_tile(int turn, int k_tiles) const {
    return backward ? k_tiles - 1 - turn : turn;
  }
};

// Clusters take tiles, each kClusterM x kClusterN blocks' tiles, in turn, so that those which run at
// the same time cover a compact part of C. Every second turn goes through K backward, and every
// second band from right to left: what was read last is read again first, while the L2 has it.
template <class S>
struct schedule {
  static constexpr int kBand = 8;  // tiles
  int rows, cols, k_tiles;         // rows and columns in tiles of a cluster

  schedule(int m, int n, int k)
      : rows(kzoo::ceil_div(m, S::kBM * S::kClusterM)),
        cols(kzoo::ceil_div(n, S::kBN * S::kClusterN)),
        k_tiles(kzoo::ceil_div(k, S::kBK)) {}

  __host__ __device__ int count() const { return rows * cols; }

  // The calling block's place in its cluster.
  __device__ int m_rank() const { return rank() % S::kClusterM; }
  __device__ int n_rank() const { return rank() / S::kClusterM; }

  // How many tiles the calling block computes, and the tile of its `turn`.
  __device__ int turns() const { return (count() - first() + step() - 1) / step(); }
  __device__ assignment at(int turn) const {
    auto tile = common::threadblock_swizzle(first() + turn * step(), rows, cols, kBand);
    if (tile.row / kBand % 2 == 1) tile.col = cols - 1 - tile.col;
    return {(tile.row * S::kClusterM + m_rank()) * S::kBM,
            (tile.col * S::kClusterN + n_rank()) * S::kBN, turn % 2 == 1};
  }

 private:
  __device__ int rank() const { return static_cast<int>(blockIdx.x) % S::kCluster; }
  __device__ int first() const { return static_cast<int>(blockIdx.x) / S::kCluster; }
  __device__ int step() const { return static_cast<int>(gridDim.x) / S::kCluster; }
};

}  // namespace persistent
