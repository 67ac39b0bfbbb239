#pragma once
// Four neighbouring floats at a time. kAligned: they are all inside the matrix and start on 16
// bytes, and one 16-byte access moves them. Otherwise (predicated) they move one by one, and only
// those inside the matrix.

#include <kzoo/plugin.hpp>

namespace common {

__device__ inline float4 load_vec4(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}

__device__ inline void store_vec4(float* to, float4 v) { *reinterpret_cast<float4*>(to) = v; }

__device__ inline void unpack(float4 v, float* to) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
}

// From shared memory into registers.
__device__ inline void read_vec4(const float* from, float* to) { unpack(load_vec4(from), to); }

// Elements (row, k) to (row, k + 3) of A; zeros past the edges.
template <bool kAligned>
__device__ float4 load_a(const kzoo::gemm<float>& g, int row, int k) {
  if constexpr (kAligned) return load_vec4(&g.a_at(row, k));
  return make_float4(g.a_or_zero(row, k), g.a_or_zero(row, k + 1), g.a_or_zero(row, k + 2),
                     g.a_or_zero(row, k + 3));
}

// Elements (k, col) to (k, col + 3) of B; zeros past the edges.
template <bool kAligned>
__device__ float4 load_b(const kzoo::gemm<float>& g, int k, int col) {
  if constexpr (kAligned) return load_vec4(&g.b_at(k, col));
  return make_float4(g.b_or_zero(k, col), g.b_or_zero(k, col + 1), g.b_or_zero(k, col + 2),
                     g.b_or_zero(k, col + 3));
}

// The epilogue: four neighbouring accumulators into C.
template <bool kAligned>
__device__ void store_c(const kzoo::gemm<float>& g, int row, int col, const float* acc) {
  if constexpr (kAligned) {
    float* out = &g.c[row * g.ldc + col];
    float4 v = make_float4(g.alpha * acc[0], g.alpha * acc[1], g.alpha * acc[2], g.alpha * acc[3]);
    if (g.beta != 0) {
      const float4 old = load_vec4(out);
      v.x += g.beta * old.x;
      v.y += g.beta * old.y;
      v.z += g.beta * old.z;
      v.w += g.beta * old.w;
    }
    store_vec4(out, v);
  } else {
    for (int j = 0; j < 4; ++j) g.store_inside(row, col + j, acc[j]);
  }
}

}  // namespace common
