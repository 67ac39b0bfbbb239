#pragma once
// TMA addresses rows that start at multiples of 16 bytes. An operand with other rows is copied once,
// into workspace, to rows that do.

#include <common/swizzled_copy.hpp>
#include <kzoo/plugin.hpp>

#include <cstddef>
#include <cstdint>

namespace persistent {

inline bool needs_copy(const kzoo_problem& p, std::int64_t row_length, kzoo_type type) {
  return p.alignment % 16 != 0 || row_length * kzoo::type_bytes(type) % 16 != 0;
}

// What is copied, and where to. There are no rows where nothing is.
template <class E>
struct padded_copy {
  common::matrix<E> from{};
  E* to = nullptr;

  // Elements from row to row of the copy: lines of 128 bytes.
  static constexpr __host__ __device__ std::ptrdiff_t padded(std::int64_t cols) {
    constexpr std::int64_t kElements = 128 / sizeof(E);
    return (cols + kElements - 1) / kElements * kElements;
  }
  static std::size_t bytes(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * padded(cols)) * sizeof(E);
  }
  std::ptrdiff_t row_length() const { return padded(from.cols); }
  std::size_t bytes() const { return bytes(from.rows, from.cols); }
};

// A warp copies kSpan words of a row at a time, each two elements, which may start anywhere.
inline constexpr int kCopyThreads = 256, kWordsPerLane = 8, kSpan = 32 * kWordsPerLane;

template <class E>
__device__ __forceinline__ void copy_rows(const padded_copy<E>& copy, int warp, int warps) {
  static_assert(sizeof(E) == 2, "two elements are a word");
  const int lane = static_cast<int>(threadIdx.x) % 32, cols = copy.from.cols;
  const std::ptrdiff_t length = padded_copy<E>::padded(cols);
  const int spans = (cols + 2 * kSpan - 1) / (2 * kSpan);
  for (std::int64_t i = warp; i < std::int64_t{copy.from.rows} * spans; i += warps) {
    const int row = static_cast<int>(i / spans);
    const int first = static_cast<int>(i % spans) * kSpan + lane;
    const auto* from =
        reinterpret_cast<const unsigned short*>(copy.from.data + row * copy.from.row_length);
    auto* to = reinterpret_cast<unsigned*>(copy.to + row * length);
    unsigned words[kWordsPerLane];
#pragma unroll
    for (int w = 0; w < kWordsPerLane; ++w) {
      const int col = 2 * (first + 32 * w);
      const unsigned low = col < cols ? from[col] : 0u, high = col + 1 < cols ? from[col + 1] : 0u;
      words[w] = low | high << 16;
    }
#pragma unroll
    for (int w = 0; w < kWordsPerLane; ++w) {
      if (2 * (first + 32 * w) < cols) to[first + 32 * w] = words[w];
    }
  }
}

template <class E>
__global__ void __launch_bounds__(kCopyThreads) copy_padded(padded_copy<E> a, padded_copy<E> b) {
  const int warp = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int warps = static_cast<int>(gridDim.x * blockDim.x) / 32;
  copy_rows(a, warp, warps);
  copy_rows(b, warp, warps);
}

// `blocks`: as many as run at a time.
template <class A, class B>
void launch_copies(const padded_copy<A>& a, const padded_copy<B>& b, int blocks,
                   kzoo::stream_t stream) {
  kzoo::launch({.grid = dim3(blocks),
                .block = dim3(kCopyThreads),
                .max_threads = kCopyThreads,
                .stream = stream},
               copy_padded<A>, a, b);
}

}  // namespace persistent
