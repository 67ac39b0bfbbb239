#pragma once
// Four neighbouring floats at a time. kWhole: they are all there and start on 16 bytes, and one
// 16-byte access moves them. Otherwise they go one by one, and only those inside the matrix.

#include <kzoo/plugin.hpp>

namespace common {

__device__ inline float4 load_quad(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}

__device__ inline void store_quad(float* to, float4 quad) { *reinterpret_cast<float4*>(to) = quad; }

__device__ inline void unpack(float4 quad, float* to) {
  to[0] = quad.x;
  to[1] = quad.y;
  to[2] = quad.z;
  to[3] = quad.w;
}

// Elements (row, k) to (row, k + 3) of A; zeros past the edges.
template <bool kWhole>
__device__ float4 a_quad(const kzoo::gemm<float>& g, int row, int k) {
  if constexpr (kWhole) return load_quad(&g.a_at(row, k));
  return make_float4(g.a_or_zero(row, k), g.a_or_zero(row, k + 1), g.a_or_zero(row, k + 2),
                     g.a_or_zero(row, k + 3));
}

// Elements (k, col) to (k, col + 3) of B.
template <bool kWhole>
__device__ float4 b_quad(const kzoo::gemm<float>& g, int k, int col) {
  if constexpr (kWhole) return load_quad(&g.b_at(k, col));
  return make_float4(g.b_or_zero(k, col), g.b_or_zero(k, col + 1), g.b_or_zero(k, col + 2),
                     g.b_or_zero(k, col + 3));
}

// The epilogue: four finished sums into C.
template <bool kWhole>
__device__ void store_sums(const kzoo::gemm<float>& g, int row, int col, const float* sum) {
  if constexpr (kWhole) {
    float* out = &g.c[row * g.ldc + col];
    float4 quad =
        make_float4(g.alpha * sum[0], g.alpha * sum[1], g.alpha * sum[2], g.alpha * sum[3]);
    if (g.beta != 0) {
      const float4 old = load_quad(out);
      quad.x += g.beta * old.x;
      quad.y += g.beta * old.y;
      quad.z += g.beta * old.z;
      quad.w += g.beta * old.w;
    }
    store_quad(out, quad);
  } else {
    for (int j = 0; j < 4; ++j) g.store_inside(row, col + j, sum[j]);
  }
}

}  // namespace common
