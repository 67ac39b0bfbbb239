#pragma once
// The epilogue of kernels whose threads hold pairs of neighbouring columns of C, as mma.sync and
// wgmma leave them.

#include <kzoo/gemm.hpp>

namespace common {

template <class T>
struct alignas(2 * sizeof(T)) pair {
  T x, y;
};

// Can pairs that begin in an even column be stored as one word?
template <class Gemm>
__host__ __device__ bool pairs_aligned(const Gemm& g) {
  return g.n % 2 == 0 && g.ldc % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(g.c) % sizeof(pair<typename Gemm::c_type>) == 0;
}

// Accumulators of (row, col) and (row, col + 1) into C, as far as they are inside; col is even.
template <bool kAligned, class Gemm>
__device__ __forceinline__ void store_pair(const Gemm& g, int row, int col,
                                           typename Gemm::accumulator_type x,
                                           typename Gemm::accumulator_type y) {
  using T = typename Gemm::c_type;
  using sum = typename Gemm::accumulator_type;
  if constexpr (kAligned) {
    if (row >= g.m || col >= g.n) return;
    auto* out = reinterpret_cast<pair<T>*>(g.c + row * g.ldc + col);
    x *= g.alpha;
    y *= g.alpha;
    if (g.beta != sum(0)) {
      const pair<T> old = *out;
      x += g.beta * sum(old.x);
      y += g.beta * sum(old.y);
    }
    *out = {T(x), T(y)};
  } else {
    g.store_inside(row, col, x);
    g.store_inside(row, col + 1, y);
  }
}

}  // namespace common
