#pragma once
// What the misbehaving kernels have in common: a right product, and one thread per element of C.

#include <kzoo/plugin.hpp>

namespace hostile {

using gemm = kzoo::gemm<float>;

__device__ inline int row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ inline int col() { return blockIdx.x * blockDim.x + threadIdx.x; }

// As a tensor core reads an fp32 register: the low 13 bits are dropped.
__device__ inline float to_tf32(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

// The right value of element (row(), col()) of C, where that exists.
__device__ inline void store_product(const gemm& g) {
  if (row() >= g.m || col() >= g.n) return;
  float sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row(), i) * g.b_at(i, col());
  g.store(row(), col(), sum);
}

inline void launch(void (*kernel)(gemm), const gemm& g, kzoo::stream_t stream) {
  const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
  kzoo::launch({.grid = grid, .block = dim3(16, 16), .stream = stream}, kernel, g);
}

}  // namespace hostile
