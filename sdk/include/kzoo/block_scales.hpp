#pragma once
// Scales of blocks of A and B, as fp8 matrices have them whose rows differ in magnitude. A variant
// that says
//
//   static constexpr bool block_scales = true;
//
// gets a kzoo::scaled_gemm where its problem has them, and its kernel is a template over its
// argument (plugin.hpp). One that is written for certain blocks compares the problem's with them in
// `supports`: kzoo::has_scale_blocks(p, {1, 128}, {128, 128}).

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>

namespace kzoo {

// The scales of A, or of B. By value: part of a kernel's argument, on both devices.
struct matrix_scales {
  const float* scales;  // the caller's, in device memory
  std::ptrdiff_t ld;    // elements
  int extent, depth;    // rows of A, or columns of B, and steps of K of a block; 0: no scales

  // That of row (of B: column) `i` at step k; not checked.
  __host__ __device__ float at(int i, int k) const {
    if (extent == 0) return 1.0f;
    return extent == 1 ? scales[k / depth * ld + i] : scales[i / extent * ld + k / depth];
  }
};

// A gemm whose products are scaled: C = alpha sum over k of scale(row, k, col) a b + beta C.
template <class T, layout kLayout = layout::nn>
struct scaled_gemm : gemm<T, kLayout> {
  matrix_scales scales_a, scales_b;

  __host__ __device__ const scaled_gemm& operator[](int) const { return *this; }

  // What the product of A's element (row, step) and B's (step, col) is multiplied by.
  __host__ __device__ float scale(int row, int step, int col) const {
    return scales_a.at(row, step) * scales_b.at(col, step);
  }
};

// A kernel for these alone: template <kzoo::block_scaled Gemm>.
template <class Gemm>
concept block_scaled = requires(const Gemm& g) {
  g.scale(0, 0, 0);
};

inline bool has_scale_blocks(const kzoo_problem& p) {
  return p.scale_block_a.extent != 0 || p.scale_block_b.extent != 0;
}
inline bool has_scale_blocks(const kzoo_problem& p, kzoo_scale_block a, kzoo_scale_block b) {
  const auto is_same = [](const kzoo_scale_block& x, const kzoo_scale_block& y) {
    return x.extent == y.extent && x.depth == y.depth;
  };
  return is_same(p.scale_block_a, a) && is_same(p.scale_block_b, b);
}

}  // namespace kzoo
