#pragma once
// TMA, and asynchronous copies of 16 bytes, address rows that start at multiples of 16 bytes. An
// operand with other rows is copied once, into workspace, to rows that do. One that has to be
// transposed is copied there, too.

#include <kzoo/launch.hpp>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>
#include <tensor_cores/common/operand_tile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace common {

// Whether rows start elsewhere than at multiples of 16 bytes.
inline bool needs_copy(const kzoo_problem& p, std::int64_t row_length, kzoo_type type) {
  return p.alignment % 16 != 0 || row_length * kzoo::type_bytes(type) % 16 != 0;
}

// From row to row of a copy, a multiple of 128 bytes.
constexpr __host__ __device__ std::int64_t padded_row_bytes(std::int64_t cols,
                                                            std::int64_t element_bytes) {
  return (cols * element_bytes + 127) / 128 * 128;
}

// What is copied, and where to. Without rows nothing is copied.
template <class E>
struct padded_copy {
  matrix_view<E> from{};
  E* to = nullptr;

  // Elements from row to row of the copy.
  static constexpr __host__ __device__ std::ptrdiff_t padded(std::int64_t cols) {
    constexpr std::int64_t kElementBytes = sizeof(E);
    return padded_row_bytes(cols, kElementBytes) / kElementBytes;
  }
  static std::size_t bytes(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * padded(cols)) * sizeof(E);
  }
  std::ptrdiff_t row_length() const { return padded(from.cols); }
  std::size_t bytes() const { return bytes(from.rows, from.cols); }
};

// A warp copies kSpan words of a row at a time, which may start anywhere.
inline constexpr int kCopyThreads = 256, kWordsPerLane = 8, kSpan = 32 * kWordsPerLane;

// Word `i` of a row of `cols` columns, with zeros after the last one.
template <class Bits>
__device__ __forceinline__ unsigned word_of(const Bits* row, int i, int cols) {
  constexpr int kInWord = 4 / int(sizeof(Bits));
  unsigned word = 0;
#pragma unroll
  for (int e = 0; e < kInWord; ++e) {
    const int col = kInWord * i + e;
    if (col < cols) word |= static_cast<unsigned>(row[col]) << (8 * int(sizeof(Bits)) * e);
  }
  return word;
}

// Copies rows. The last 16 bytes with elements of a row are filled up with zeros.
template <class E>
__device__ __forceinline__ void copy_rows(const padded_copy<E>& copy, int warp, int warps) {
  using bits = std::conditional_t<sizeof(E) == 1, unsigned char,
                                  std::conditional_t<sizeof(E) == 2, unsigned short, unsigned>>;
  static_assert(sizeof(E) == sizeof(bits));
  constexpr int kInWord = 4 / int(sizeof(E));  // elements
  const int lane = static_cast<int>(threadIdx.x) % 32, cols = copy.from.cols;
  const int words = (cols + 4 * kInWord - 1) / (4 * kInWord) * 4,
            spans = (words + kSpan - 1) / kSpan;
  const std::ptrdiff_t length = padded_copy<E>::padded(cols);
  for (std::int64_t i = warp; i < std::int64_t{copy.from.rows} * spans; i += warps) {
    const int row = static_cast<int>(i / spans);
    const int first = static_cast<int>(i % spans) * kSpan + lane;
    const auto* from = reinterpret_cast<const bits*>(copy.from.data + row * copy.from.row_length);
    auto* to = reinterpret_cast<unsigned*>(copy.to + row * length);
    unsigned some[kWordsPerLane];
#pragma unroll
    for (int w = 0; w < kWordsPerLane; ++w) some[w] = word_of(from, first + 32 * w, cols);
#pragma unroll
    for (int w = 0; w < kWordsPerLane; ++w) {
      if (first + 32 * w < words) to[first + 32 * w] = some[w];
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

template <class E>
void launch_copies(const padded_copy<E>& a, const padded_copy<E>& b, int multiprocessors,
                   kzoo::stream_t stream) {
  constexpr int kPerSm = 2048 / kCopyThreads, kRowsAtLeast = kCopyThreads / 32;
  const int most = kPerSm * std::max(multiprocessors, 1);  // that run at a time
  kzoo::launch(
      {.grid = dim3(std::min(most, kzoo::ceil_div(a.from.rows + b.from.rows, kRowsAtLeast))),
       .block = dim3(kCopyThreads),
       .max_threads = kCopyThreads,
       .stream = stream},
      copy_padded<E>, a, b);
}

// Workspace for copies of those operands of which needs(row_length, cols, type) is true.
template <class Needs>
std::size_t copies_bytes(const kzoo_problem& p, const Needs& needs) {
  const auto bytes = [&](bool transposed, std::int64_t rows, std::int64_t cols,
                         std::int64_t row_length, kzoo_type type) {
    if (transposed) std::swap(rows, cols);
    const std::int64_t padded = padded_row_bytes(cols, kzoo::type_bytes(type));
    return needs(row_length, cols, type) ? static_cast<std::size_t>(rows * padded) : 0;
  };
  const kzoo::layout l = kzoo::layout_of(p);
  return bytes(kzoo::is_a_transposed(l), p.m, p.k, p.lda, p.type_a) +
         bytes(kzoo::is_b_transposed(l), p.k, p.n, p.ldb, p.type_b);
}

// The same product with other operands: those of which needs(matrix) is true are copied to `to`, by
// a launch that this enqueues. `copied` becomes true if there are any.
template <class G, class Needs>
G with_copies(const G& g, const Needs& needs, void* to, int multiprocessors, kzoo::stream_t stream,
              bool& copied) {
  using copy = padded_copy<typename G::a_type>;
  static_assert(std::is_same_v<typename G::a_type, typename G::b_type>);
  G of = g;
  auto* next = static_cast<unsigned char*>(to);
  copy a{}, b{};
  const auto place = [&](copy& c, const auto& from, const auto*& data, std::ptrdiff_t& length) {
    if (!needs(from)) return;
    c = {from, reinterpret_cast<typename G::a_type*>(next)};
    next += c.bytes();
    data = c.to;
    length = c.row_length();
    copied = true;
  };
  place(a, a_of(g), of.a, of.lda);
  place(b, b_of(g), of.b, of.ldb);
  if (copied) launch_copies(a, b, multiprocessors, stream);
  return of;
}

// A block transposes kSide x kSide elements, through shared memory.
inline constexpr int kSide = 64;

template <class E>
__global__ void __launch_bounds__(kCopyThreads) copy_transposed(padded_copy<E> copy) {
  __shared__ E tile[kSide][kSide + 1];
  constexpr int kAtOnce = kCopyThreads / kSide;
  const int x = static_cast<int>(threadIdx.x) % kSide, y = static_cast<int>(threadIdx.x) / kSide;
  const int row0 = static_cast<int>(blockIdx.y) * kSide,
            col0 = static_cast<int>(blockIdx.x) * kSide;
  const std::ptrdiff_t length = padded_copy<E>::padded(copy.from.rows);
#pragma unroll
  for (int i = y; i < kSide; i += kAtOnce) {
    const bool inside = row0 + i < copy.from.rows && col0 + x < copy.from.cols;
    tile[i][x] = inside ? copy.from.data[(row0 + i) * copy.from.row_length + col0 + x] : E(0);
  }
  __syncthreads();
#pragma unroll
  for (int i = y; i < kSide; i += kAtOnce) {
    if (col0 + i < copy.from.cols && row0 + x < copy.from.rows)
      copy.to[(col0 + i) * length + row0 + x] = tile[x][i];
  }
}

template <class E>
void launch_transposed_copy(const padded_copy<E>& copy, kzoo::stream_t stream) {
  kzoo::launch(
      {.grid = dim3(kzoo::ceil_div(copy.from.cols, kSide), kzoo::ceil_div(copy.from.rows, kSide)),
       .block = dim3(kCopyThreads),
       .max_threads = kCopyThreads,
       .stream = stream},
      copy_transposed<E>, copy);
}

}  // namespace common
