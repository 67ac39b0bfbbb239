#pragma once
// A product with few rows or few columns, seen in one way: X has few rows, W has many columns. Each
// element of W is read once, and that is what takes the time.
//
//                   strip: 128 columns of W
//            K     +---+---+---+              few rows      X = A, W = B
//         +-----+  |   |   |   | part         few columns   X = B transposed, W = A transposed, and
//     few |  X  |  +---+---+---+ K                          what comes out is C transposed
//         +-----+  |   |   |   | part
//                  +---+---+---+
//
// A block has a part along K of a strip, so that there are blocks enough for all SMs; the last one
// to finish of a strip adds up its parts.

#include <kzoo/plugin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace skinny {

inline constexpr int kWarps = 8, kThreads = 32 * kWarps;
inline constexpr int kStrip = 128;   // floats: 512 bytes, which a warp copies at a time
inline constexpr int kLines = 4;     // of kStrip, in a stage
inline constexpr int kMostX = 8192;  // floats of X in a block's shared memory

// Rows: those of X that a block multiplies. Where X has more, other blocks read W once more.
template <int Rows, int Stages>
struct tiling {
  static constexpr int kRows = Rows, kStages = Stages, kSums = Rows * kStrip;
  static constexpr int kRing = Stages * kLines * kStrip;  // floats of each warp
};

// How a product is divided. blockIdx.x counts strips, group by group of rows; blockIdx.y counts
// parts of K.
struct division {
  int groups, strips, parts;
  int steps;  // along K, of a part: a multiple of kStrip

  // `rows`: of a block's tiling. `blocks_per_sm`: at most so many, in all, for each SM, if each
  // part of X then fits into shared memory.
  static division of(std::int64_t few, std::int64_t wide, std::int64_t k, int rows,
                     int blocks_per_sm, const kzoo_device& d) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    const std::int64_t strips = up(wide, kStrip), groups = up(few, rows);
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    const std::int64_t wanted = blocks_per_sm * sms / (strips * groups);
    const std::int64_t parts = std::clamp(wanted, up(k, kMostX / rows), up(k, kStrip));
    const std::int64_t steps = up(up(k, parts), kStrip) * kStrip;
    return {static_cast<int>(groups), static_cast<int>(strips), static_cast<int>(up(k, steps)),
            static_cast<int>(steps)};
  }
  int sums() const { return groups * strips; }
};

struct product {
  int few, wide, k;
  const float *x, *w;
  std::ptrdiff_t x_row, x_step;  // from row to row of X, and from step to step along K
  std::ptrdiff_t w_line;         // from row to row of W as it is in memory
  float* c;
  std::ptrdiff_t c_row, c_col;
  float alpha, beta;
  bool w_along_k;  // the rows of W in memory go along K

  // Whether W can be copied 16 bytes at a time.
  bool aligned() const {
    return reinterpret_cast<std::uintptr_t>(w) % 16 == 0 && w_line % 4 == 0 &&
           (w_along_k ? k : wide) % 4 == 0;
  }
  __device__ __forceinline__ void store(int row, int col, float sum) const {
    if (row >= few || col >= wide) return;
    float& out = c[row * c_row + col * c_col];
    out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
  }
};

template <kzoo::layout kLayout>
product few_rows(const kzoo::gemm<float, kLayout>& g) {
  constexpr bool kAt = kzoo::is_a_transposed(kLayout), kBt = kzoo::is_b_transposed(kLayout);
  return {.few = g.m,
          .wide = g.n,
          .k = g.k,
          .x = g.a,
          .w = g.b,
          .x_row = kAt ? 1 : g.lda,
          .x_step = kAt ? g.lda : 1,
          .w_line = g.ldb,
          .c = g.c,
          .c_row = g.ldc,
          .c_col = 1,
          .alpha = g.alpha,
          .beta = g.beta,
          .w_along_k = kBt};
}

template <kzoo::layout kLayout>
product few_columns(const kzoo::gemm<float, kLayout>& g) {
  constexpr bool kAt = kzoo::is_a_transposed(kLayout), kBt = kzoo::is_b_transposed(kLayout);
  return {.few = g.n,
          .wide = g.m,
          .k = g.k,
          .x = g.b,
          .w = g.a,
          .x_row = kBt ? g.ldb : 1,
          .x_step = kBt ? 1 : g.ldb,
          .w_line = g.lda,
          .c = g.c,
          .c_row = 1,
          .c_col = g.ldc,
          .alpha = g.alpha,
          .beta = g.beta,
          .w_along_k = !kAt};
}

}  // namespace skinny
