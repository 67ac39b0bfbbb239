#pragma once
// A warp's accumulator fragments into C, one row of fragments at a time through the warp's own
// strip of shared memory, because WMMA does not say which elements of a fragment a thread holds.

#include <cstdint>

#include "stages.hpp"

namespace tensor {

template <class G, class S>
using accumulators = fragment_c<typename G::a_type>[S::kRows][S::kCols];

// Neighbouring elements that are loaded and stored as one word.
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) vec {
  T x[kCount];
};

// Four neighbours of a row of C, the first of them at `out`.
template <class G>
__device__ __forceinline__ void store_vec4(const G& g, typename G::c_type* out, const float* acc) {
  using T = typename G::c_type;
  const auto v = *reinterpret_cast<const vec<float, 4>*>(acc);
  auto* to = reinterpret_cast<vec<T, 4>*>(out);
  vec<T, 4> c;
  if (g.beta != 0.0f) c = *to;
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const float scaled = g.alpha * v.x[x];
    c.x[x] = g.beta == 0.0f ? T(scaled) : T(scaled + g.beta * float(c.x[x]));
  }
  *to = c;
}

// Do such four start at a multiple of their size, and end in the same row?
template <class G>
bool vec4s_aligned(const G& g) {
  return g.n % 4 == 0 && g.ldc % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(g.c) % sizeof(vec<typename G::c_type, 4>) == 0;
}

// The warp's tile begins at (row0, col0) of C.
template <bool kVec4s, class G, class S>
__device__ __forceinline__ void store(const G& g, const accumulators<G, S>& acc, float* strip,
                                      int row0, int col0) {
  using L = layout<G, S>;
  constexpr int kWidth = kVec4s ? 4 : 1;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
      wmma::store_matrix_sync(strip + j * kFragment, acc[i][j], L::kCRow, wmma::mem_row_major);
    }
    __syncwarp();  // the strip is complete
#pragma unroll(kVec4s ? 4 : 1)
    for (int first = 0; first < kFragment * S::kWN; first += kWidth * 32) {
      const int at = first + kWidth * lane;
      const int row = row0 + i * kFragment + at / S::kWN, col = col0 + at % S::kWN;
      const float* from = strip + at / S::kWN * L::kCRow + at % S::kWN;
      if constexpr (kVec4s) {
        if (row < g.m && col < g.n) store_vec4(g, g.c + row * g.ldc + col, from);
      } else {
        g.store_inside(row, col, *from);
      }
    }
    __syncwarp();  // all lanes have read it
  }
}

}  // namespace tensor
