#pragma once
// smem for everything that a problem may have; a header, as dispatch has it for what nothing faster
// takes.

#include <kzoo/plugin.hpp>

namespace every_type {

template <int kTile, class Gemm>
__global__ void smem_kernel(Gemm batch) {
  __shared__ typename Gemm::a_type a_tile[kTile][kTile];  // (BM, BK)
  __shared__ typename Gemm::b_type b_tile[kTile][kTile];  // (BK, BN)
  const auto g = batch[blockIdx.z];
  if (static_cast<int>(blockIdx.y) * kTile >= g.m) return;  // past the rows of its group
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;

  typename Gemm::accumulator_type acc = 0;
  for (int k0 = 0; k0 < g.k; k0 += kTile) {
    a_tile[ty][tx] = g.a_or_zero(row, k0 + tx);
    b_tile[ty][tx] = g.b_or_zero(k0 + ty, col);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kTile; ++k) acc += g.product(a_tile[ty][k], b_tile[k][tx]);
    __syncthreads();  // all threads have read them
  }
  g.store_inside(row, col, acc);
}

}  // namespace every_type
