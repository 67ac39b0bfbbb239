#pragma once
// The argument of a kernel: one matrix product, by value, the same on both devices.

#include <kzoo/cuda.hpp>
#include <kzoo/layout.hpp>

#include <cstddef>
#include <cstdint>

namespace kzoo {

// The type of accumulators for elements T: fp32 for floating-point types, 32-bit integers for int.
template <class T>
struct accumulator {
  using type = float;
};
template <>
struct accumulator<int> {
  using type = int;
};
template <class T>
using accumulator_t = typename accumulator<T>::type;

// C = alpha A B + beta C: A is m x k, B is k x n, C is m x n. C is row-major, and so are A and B,
// with element (i, j) of A at a[i * lda + j], unless the layout says that they are transposed in
// memory; then it is at a[j * lda + i]. Pointers are the caller's: device memory on cuda, host
// memory on cpu. With beta = 0, C is never read.
template <class T, layout kLayout = layout::nn>
struct gemm {
  using element = T;
  using accumulator_type = accumulator_t<T>;
  static constexpr bool kATransposed = is_a_transposed(kLayout),
                        kBTransposed = is_b_transposed(kLayout);

  int m, n, k;
  std::ptrdiff_t lda, ldb, ldc;  // elements
  const T* a;
  const T* b;
  T* c;
  accumulator_type alpha, beta;

  __host__ __device__ const T& a_at(int row, int col) const {
    if constexpr (kATransposed) return a[col * lda + row];
    return a[row * lda + col];
  }
  __host__ __device__ const T& b_at(int row, int col) const {
    if constexpr (kBTransposed) return b[col * ldb + row];
    return b[row * ldb + col];
  }

  // Element (row, col) where it exists, else 0: fills up a tile that hangs over an edge.
  __host__ __device__ T a_or_zero(int row, int col) const {
    return row < m && col < k ? a_at(row, col) : T(0);
  }
  __host__ __device__ T b_or_zero(int row, int col) const {
    return row < k && col < n ? b_at(row, col) : T(0);
  }

  // Does each row of A, B and C start at a multiple of `bytes`? Vector loads and stores need it.
  bool rows_aligned(int bytes) const {
    const auto aligned = [bytes](const T* p, std::ptrdiff_t ld) {
      return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % bytes == 0;
    };
    return aligned(a, lda) && aligned(b, ldb) && aligned(c, ldc);
  }

  // The epilogue: one finished accumulator into C.
  __host__ __device__ void store(int row, int col, accumulator_type acc) const {
    T& out = c[row * ldc + col];
    out = beta == accumulator_type(0) ? T(alpha * acc)
                                      : T(alpha * acc + beta * accumulator_type(out));
  }
  // The same where it exists, for a tile that hangs over an edge of C.
  __host__ __device__ void store_inside(int row, int col, accumulator_type acc) const {
    if (row < m && col < n) store(row, col, acc);
  }
};

// Blocks that cover `count` when each covers `size`; size > 0.
__host__ __device__ constexpr int ceil_div(int count, int size) {
  return (count + size - 1) / size;
}

}  // namespace kzoo
