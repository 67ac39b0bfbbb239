#pragma once
// Block scales of A and B, e.g. for fp8 matrices whose rows differ in magnitude. A variant with
//
//   static constexpr bool block_scales = true;
//
// gets a kzoo::scaled_gemm for problems with block scales; its kernel is a template over its
// argument (plugin.hpp). A variant for certain blocks checks them in `supports`:
// kzoo::has_scale_blocks(p, {1, 128}, {128, 128}).

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>

namespace kzoo {

// The scales of A, or of B. By value: part of a kernel's argument, on both devices.
struct matrix_scales {
  const float* scales;  // the caller's, in device memory
  std::ptrdiff_t ld;    // elements
  int extent, depth;    // of a block: rows of A (columns of B), elements of K; 0: no scales

  // The scale for row (of B: column) `i` at element k of K; not checked.
  __host__ __device__ float at(int i, int k) const {
    if (extent == 0) return 1.0f;
    return extent == 1 ? scales[k / depth * ld + i] : scales[i / extent * ld + k / depth];
  }
};

// A gemm with block scales: C = alpha sum over k of scale(row, k, col) a b + beta C.
template <class T, layout kLayout = layout::nn>
struct scaled_gemm : gemm<T, kLayout> {
  matrix_scales scales_a, scales_b;  // of A; of B

  // Itself: a batch of one GEMM.
  __host__ __device__ const scaled_gemm& operator[](int) const { return *this; }

  // The factor for A's element (row, step) times B's element (step, col).
  __host__ __device__ float scale(int row, int step, int col) const {
    return scales_a.at(row, step) * scales_b.at(col, step);
  }
};

// Constrains a kernel to block scales: template <kzoo::block_scaled Gemm>.
template <class Gemm>
concept block_scaled = requires(const Gemm& g) {
  g.scale(0, 0, 0);
};

// Whether A or B has block scales.
inline bool has_scale_blocks(const kzoo_problem& p) {
  return p.scale_block_a.extent != 0 || p.scale_block_b.extent != 0;
}
// Whether A and B have scales for blocks of exactly these shapes.
inline bool has_scale_blocks(const kzoo_problem& p, kzoo_scale_block a, kzoo_scale_block b) {
  const auto is_same = [](const kzoo_scale_block& x, const kzoo_scale_block& y) {
    return x.extent == y.extent && x.depth == y.depth;
  };
  return is_same(p.scale_block_a, a) && is_same(p.scale_block_b, b);
}

}  // namespace kzoo
