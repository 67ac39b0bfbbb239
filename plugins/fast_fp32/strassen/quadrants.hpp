#pragma once
// Everything of Strassen's algorithm but its products: A and B in quadrants and the sums of these,
// and C from the products.

#include <fp32/common/vec4.hpp>

#include <cstddef>
#include <cstdint>

namespace strassen {

// A dimension in two parts. The first is a multiple of 4, so that the second starts at 16 bytes
// where the whole does, and not shorter than the second.
struct halves {
  int first, second;

  static halves of(std::int64_t size) {
    const auto first = static_cast<int>((size + 7) / 8 * 4);
    return {first, static_cast<int>(size) - first};
  }
};

// The sums and differences of quadrants that products need: the same five of A and of B.
//
//   11 12     diagonal 11 + 22    upper 11 + 12    left  21 - 11
//   21 22                         lower 21 + 22    right 12 - 22
enum sum { diagonal, upper, lower, left, right, kSums };

inline constexpr int kThreads = 256, kWidth = 4;  // a thread takes four neighbours of a row

// A row-major matrix of `rows` x `cols`, zero beyond.
template <class T>
struct view {
  T* data;
  std::ptrdiff_t row_length;  // elements from one row to the next
  int rows, cols;

  __host__ __device__ T* at(int row, int col) const { return data + row * row_length + col; }
};

// Elements (row, col) to (row, col + 3). kAligned: all of them are inside, or none.
template <bool kAligned>
__device__ __forceinline__ float4 load_or_zero(const view<const float>& from, int row, int col) {
  if (row >= from.rows || col >= from.cols) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float* x = from.at(row, col);
  if constexpr (kAligned) return common::load_vec4(x);
  const int inside = from.cols - col;
  return make_float4(x[0], inside > 1 ? x[1] : 0.0f, inside > 2 ? x[2] : 0.0f,
                     inside > 3 ? x[3] : 0.0f);
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 operator-(float4 a, float4 b) {
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

// Four neighbours for each thread of `rows` x `cols`, cols a multiple of 4.
__device__ __forceinline__ bool own_place(int rows, int cols, int& row, int& col) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  row = static_cast<int>(i / (cols / kWidth));
  col = static_cast<int>(i % (cols / kWidth)) * kWidth;
  return row < rows;
}

// What add_quadrants() reads and writes. The sums are as large as the first quadrant, one after the
// other in memory.
struct quadrants {
  view<const float> q11, q12, q21, q22;
  float* sums;

  __host__ __device__ std::ptrdiff_t elements() const {
    return std::ptrdiff_t{q11.rows} * q11.cols;
  }
  view<const float> of(sum which) const {
    return {sums + which * elements(), q11.cols, q11.rows, q11.cols};
  }
};

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) add_quadrants(quadrants x) {
  int row, col;
  if (!own_place(x.q11.rows, x.q11.cols, row, col)) return;
  const float4 v11 = load_or_zero<kAligned>(x.q11, row, col);
  const float4 v12 = load_or_zero<kAligned>(x.q12, row, col);
  const float4 v21 = load_or_zero<kAligned>(x.q21, row, col);
  const float4 v22 = load_or_zero<kAligned>(x.q22, row, col);
  const auto store = [&](sum which, float4 v) {
    common::store_vec4(x.sums + which * x.elements() + row * std::ptrdiff_t{x.q11.cols} + col, v);
  };
  store(diagonal, v11 + v22);
  store(upper, v11 + v12);
  store(lower, v21 + v22);
  store(left, v21 - v11);
  store(right, v12 - v22);
}

struct products {
  view<const float> m[7];
};

// C from the products, scaled and added to what C was.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    combine(kzoo::gemm<float> g, products p, halves rows, halves cols) {
  int row, col;
  if (!own_place(rows.first, cols.first, row, col)) return;
  const auto m = [&](int i) { return load_or_zero<kAligned>(p.m[i - 1], row, col); };
  const float4 m1 = m(1), m2 = m(2), m3 = m(3), m4 = m(4), m5 = m(5), m6 = m(6), m7 = m(7);
  const auto store = [&](int to_row, int to_col, float4 v) {
    if (to_row >= g.m || to_col >= g.n) return;
    float four[4];
    common::unpack(v, four);
    common::store_c<kAligned>(g, to_row, to_col, four);
  };
  const bool is_lower = row < rows.second, is_right = col < cols.second;
  store(row, col, m1 + m4 - m5 + m7);
  if (is_right) store(row, cols.first + col, m3 + m5);
  if (is_lower) store(rows.first + row, col, m2 + m4);
  if (is_lower && is_right) store(rows.first + row, cols.first + col, m1 - m2 + m3 + m6);
}

}  // namespace strassen
