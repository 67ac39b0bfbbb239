#pragma once
// A kernel's argument: one GEMM, by value, equal on both devices.

#include <kzoo/cuda.hpp>
#include <kzoo/layout.hpp>

#include <cstddef>
#include <cstdint>

namespace kzoo {

// Different element types of A, B and C; used as T of gemm and types.
template <class A, class B, class C>
struct mixed {};
// For A and B of one type: to<__half, float> is f16->f32 in experiments.
template <class AB, class C>
using to = mixed<AB, AB, C>;

// The element types of A, B and C for T: one type, or mixed.
template <class T>
struct elements {
  using a = T;
  using b = T;
  using c = T;
};
template <class A, class B, class C>
struct elements<mixed<A, B, C>> {
  using a = A;
  using b = B;
  using c = C;
};

// The accumulators' type for elements T: integers for integers, fp64 for double, otherwise fp32.
template <class T>
struct accumulator {
  using type = typename accumulator<typename elements<T>::c>::type;
};
template <>
struct accumulator<float> {
  using type = float;
};
template <>
struct accumulator<__half> : accumulator<float> {};
template <>
struct accumulator<__nv_bfloat16> : accumulator<float> {};
template <>
struct accumulator<int> {
  using type = int;
};
template <>
struct accumulator<double> {
  using type = double;
};
// The accumulators' type for elements T.
template <class T>
using accumulator_t = typename accumulator<T>::type;

// C = alpha A B + beta C: A is m x k, B is k x n, C is m x n. C is row-major. Element (i, j) of A
// is at a[i * lda + j], or at a[j * lda + i] if the layout transposes A; B likewise. Pointers are
// the caller's: device memory on cuda, host memory on cpu. With beta = 0, C is never read. alpha
// includes the scales of A and B.
template <class T, layout kLayout = layout::nn>
struct gemm {
  using element = T;                                              // as in types: one type, or mixed
  using a_type = typename elements<T>::a;                         // elements of A
  using b_type = typename elements<T>::b;                         // elements of B
  using c_type = typename elements<T>::c;                         // elements of C
  using accumulator_type = accumulator_t<T>;                      // of sums, alpha and beta
  static constexpr bool kATransposed = is_a_transposed(kLayout);  // A is column-major in memory
  static constexpr bool kBTransposed = is_b_transposed(kLayout);  // B is column-major in memory

  int m, n, k;                   // each at least 1; m may be 0 in a group
  std::ptrdiff_t lda, ldb, ldc;  // elements
  const a_type* a;               // element (0, 0) of A
  const b_type* b;               // element (0, 0) of B
  c_type* c;                     // element (0, 0) of C
  accumulator_type alpha, beta;  // by value, on both devices

  // A single GEMM counts as a batch of one: see gemm_batch.
  static constexpr int products() { return 1; }
  // The sizes that a grid must cover for each GEMM.
  const gemm& largest() const { return *this; }
  // Itself: a batch of one GEMM.
  __host__ __device__ const gemm& operator[](int) const { return *this; }

  // Element (row, col) of the m x k matrix A in any layout. Indices from 0, not checked.
  __host__ __device__ const a_type& a_at(int row, int col) const {
    if constexpr (kATransposed) return a[col * lda + row];
    return a[row * lda + col];
  }
  // Element (row, col) of the k x n matrix B in any layout. Indices from 0, not checked.
  __host__ __device__ const b_type& b_at(int row, int col) const {
    if constexpr (kBTransposed) return b[col * ldb + row];
    return b[row * ldb + col];
  }

  // The product of two elements, in the accumulators' type.
  static __host__ __device__ accumulator_type product(const a_type& x, const b_type& y) {
    return static_cast<accumulator_type>(x) * static_cast<accumulator_type>(y);
  }

  // Element (row, col) of A, or 0 outside, to fill a tile that crosses an edge.
  __host__ __device__ a_type a_or_zero(int row, int col) const {
    return row < m && col < k ? a_at(row, col) : a_type(0);
  }
  // Element (row, col) of B, or 0 outside.
  __host__ __device__ b_type b_or_zero(int row, int col) const {
    return row < k && col < n ? b_at(row, col) : b_type(0);
  }

  // Whether A, B and C, and each of their rows (transposed: columns), start at a multiple of
  // `bytes`, a power of two. Vector loads and stores need it. Host code.
  bool rows_aligned(int bytes) const {
    const auto aligned = [bytes](const auto* p, std::ptrdiff_t ld) {
      return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(*p) % bytes == 0;
    };
    return aligned(a, lda) && aligned(b, ldb) && aligned(c, ldc);
  }

  // Writes one finished accumulator into C: alpha acc + beta C.
  __host__ __device__ void store(int row, int col, accumulator_type acc) const {
    c_type& out = c[row * ldc + col];
    out = beta == accumulator_type(0) ? c_type(alpha * acc)
                                      : c_type(alpha * acc + beta * accumulator_type(out));
  }
  // Writes it if (row, col) exists, for a tile that crosses an edge of C.
  __host__ __device__ void store_inside(int row, int col, accumulator_type acc) const {
    if (row < m && col < n) store(row, col, acc);
  }
};

// A batch: GEMMs of one shape, with the same alpha and beta. Each A, B and C starts a stride after
// the previous one; stride 0: all GEMMs share the operand. A kernel that is a template over its
// argument,
//
//   template <class Gemm>
//   __global__ void kernel(Gemm batch) {
//     const auto g = batch[blockIdx.z];
//
// computes a batch with gridDim.z = batch.products(), and a gemm at no extra cost.
template <class T, layout kLayout = layout::nn>
struct gemm_batch {
  using element = T;                                 // as in types: one type, or mixed
  using a_type = typename gemm<T, kLayout>::a_type;  // elements of A
  using b_type = typename gemm<T, kLayout>::b_type;  // elements of B
  using c_type = typename gemm<T, kLayout>::c_type;  // elements of C
  using accumulator_type = accumulator_t<T>;         // of sums, alpha and beta

  gemm<T, kLayout> first;                       // the first GEMM
  int count;                                    // of GEMMs
  std::ptrdiff_t stride_a, stride_b, stride_c;  // elements

  // The number of GEMMs, for gridDim.z.
  int products() const { return count; }
  // The sizes that a grid must cover for each GEMM.
  const gemm<T, kLayout>& largest() const { return first; }
  // GEMM `product`, from 0; not checked.
  __host__ __device__ gemm<T, kLayout> operator[](int product) const {
    gemm<T, kLayout> g = first;
    g.a += product * stride_a;
    g.b += product * stride_b;
    g.c += product * stride_c;
    return g;
  }
};

// Blocks that cover `count` if each covers `size`; size > 0.
__host__ __device__ constexpr int ceil_div(int count, int size) {
  return (count + size - 1) / size;
}

}  // namespace kzoo
