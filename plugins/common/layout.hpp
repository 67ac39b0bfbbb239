#pragma once
// Where element (row, k) of a transposed tile of A is in shared memory. Four neighbouring rows,
// from a multiple of four on, are a quad in each.

#include <kzoo/cuda.hpp>

namespace common {

template <class S>
struct plain {
  static constexpr int kSize = S::kBK * S::kBM;
  __host__ __device__ static constexpr int at(int k, int row) { return k * S::kBM + row; }
};

// Four unused words after each step along K.
template <class S>
struct padded {
  static constexpr int kStride = S::kBM + 4, kSize = S::kBK * kStride;
  __host__ __device__ static constexpr int at(int k, int row) { return k * kStride + row; }
};

// No unused words: rows change places instead, by a different exclusive or for each quad of steps.
template <class S>
struct swizzled {
  static constexpr int kSize = S::kBK * S::kBM;
  __host__ __device__ static constexpr int at(int k, int row) {
    return k * S::kBM + (row ^ (k / 4 * (128 / S::kBK)));
  }
};

}  // namespace common
