#pragma once
// Which tiles of C a block computes, and in which order.

#include <common/threadblock_swizzle.hpp>
#include <kzoo/cluster.hpp>
#include <kzoo/gemm.hpp>

namespace persistent {

// Clusters take tiles of kClusterM x kClusterN blocks' tiles in turn, so that those which run at the
// same time cover a compact part of C: 8 of them high.
template <class S>
struct schedule {
  int rows, cols, k_tiles;  // rows and columns in tiles of a cluster

  schedule(int m, int n, int k)
      : rows(kzoo::ceil_div(m, S::kBM * S::kClusterM)),
        cols(kzoo::ceil_div(n, S::kBN * S::kClusterN)),
        k_tiles(kzoo::ceil_div(k, S::kBK)) {}

  __host__ __device__ int count() const { return rows * cols; }

  // The calling block's place in its cluster, and its cluster's tiles.
  __device__ int m_rank() const { return rank() % S::kClusterM; }
  __device__ int n_rank() const { return rank() / S::kClusterM; }
  __device__ int first() const { return static_cast<int>(blockIdx.x) / S::kCluster; }
  __device__ int step() const { return static_cast<int>(gridDim.x) / S::kCluster; }

  // The first element of the calling block's part of a tile.
  __device__ common::tile_position position_of(int tile) const {
    const auto t = common::threadblock_swizzle(tile, rows, cols, 8);
    return {(t.row * S::kClusterM + m_rank()) * S::kBM, (t.col * S::kClusterN + n_rank()) * S::kBN};
  }

 private:
  __device__ int rank() const { return static_cast<int>(blockIdx.x) % S::kCluster; }
};

}  // namespace persistent
