#pragma once
// Layouts of a transposed tile of A in shared memory: at(k, row) is where element (row, k) goes. In
// each of them four neighbouring rows, from a multiple of four on, are neighbours: a float4.

#include <kzoo/cuda.hpp>

namespace common {

template <class S>
struct plain {
  static constexpr int kSize = S::kBK * S::kBM;
  __host__ __device__ static constexpr int at(int k, int row) { return k * S::kBM + row; }
};

// Four unused words after the rows of each k.
template <class S>
struct padded {
  static constexpr int kStride = S::kBM + 4, kSize = S::kBK * kStride;
  __host__ __device__ static constexpr int at(int k, int row) { return k * kStride + row; }
};

// No unused words: rows are permuted instead, by an exclusive or that differs every four k.
template <class S>
struct swizzled {
  static constexpr int kSize = S::kBK * S::kBM;
  __host__ __device__ static constexpr int at(int k, int row) {
    return k * S::kBM + (row ^ (k / 4 * (128 / S::kBK)));
  }
};

}  // namespace common
