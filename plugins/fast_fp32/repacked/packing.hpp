#pragma once
// Copies of A and B in the workspace, for a kernel that takes row-major matrices whose rows start
// on 16 bytes and whose K is a multiple of its k tiles: an operand that is transposed in memory, or
// whose rows start elsewhere, is copied into padded rows, with zeros past its edges. One launch
// copies both. What needs no copy is used where it is.
//
//   B transposed in memory, K x N = 3 x 2           its copy, both padded
//      a b c                                        a d 0 0
//      d e f                                        b e 0 0
//                                                   c f 0 0
//                                                   0 0 0 0

#include <kzoo/plugin.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>

namespace repacked {

inline constexpr int kThreads = 256, kSide = 32;  // a block copies kSide x kSide
inline constexpr int kPadding = kSide;            // rows and columns become multiples of this

constexpr std::int64_t padded(std::int64_t size) {
  return (size + kPadding - 1) / kPadding * kPadding;
}

// An operand and its copy; without `to` there is none.
struct copy {
  const float* from;
  std::ptrdiff_t from_row, from_col;  // from row to row, and from column to column
  int rows, cols;
  float* to;
  int to_rows, to_cols;

  __host__ __device__ int tiles_across() const { return kzoo::ceil_div(to_cols, kSide); }
  __host__ __device__ int tiles() const { return kzoo::ceil_div(to_rows, kSide) * tiles_across(); }
};

template <bool kTransposed>
__device__ __forceinline__ void copy_tile(const copy& c, int row0, int col0,
                                          float (&tile)[kSide][kSide + 1]) {
  constexpr int kAtOnce = kThreads / kSide, kCount = kSide / kAtOnce;
  const int x = static_cast<int>(threadIdx.x) % kSide, y = static_cast<int>(threadIdx.x) / kSide;
  float values[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    // Neighbouring threads read neighbours in memory.
    const int row = row0 + (kTransposed ? x : y + i * kAtOnce);
    const int col = col0 + (kTransposed ? y + i * kAtOnce : x);
    const bool inside = row < c.rows && col < c.cols;
    values[i] = inside ? c.from[row * c.from_row + col * c.from_col] : 0.0f;
  }
  if constexpr (kTransposed) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tile[y + i * kAtOnce][x] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = tile[x][y + i * kAtOnce];
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int row = row0 + y + i * kAtOnce, col = col0 + x;
    if (row < c.to_rows && col < c.to_cols) c.to[std::int64_t{row} * c.to_cols + col] = values[i];
  }
}

struct copies {
  copy of[2];  // A and B
};

// A block copies a tile, first those of A, then those of B.
inline __global__ void __launch_bounds__(kThreads)
    pack_kernel(const __grid_constant__ copies both) {
  __shared__ float tile[kSide][kSide + 1];
  const int block = static_cast<int>(blockIdx.x), of_a = both.of[0].tiles();
  const copy& c = both.of[block < of_a ? 0 : 1];
  const int number = block < of_a ? block : block - of_a;
  const int row0 = number / c.tiles_across() * kSide, col0 = number % c.tiles_across() * kSide;
  if (c.from_col == 1) {
    copy_tile<false>(c, row0, col0, tile);
  } else {
    copy_tile<true>(c, row0, col0, tile);
  }
}

// Which operands of a problem are copied.
class packing {
 public:
  packing() = default;  // nothing is copied
  // `ragged`: also what is not transposed, and only cannot be read 16 bytes at a time.
  packing(const kzoo_problem& p, bool ragged) : m_(p.m), n_(p.n), k_(p.k) {
    const bool either = p.alignment % 16 != 0 || p.k % kPadding != 0;
    const bool a = either || p.lda % 4 != 0, b = either || p.ldb % 4 != 0 || p.n % 4 != 0;
    const bool a_t = p.layout_a == KZOO_COLUMN_MAJOR, b_t = p.layout_b == KZOO_COLUMN_MAJOR;
    // Where one has zeros past K, so has the other.
    const bool some = a_t || b_t || (ragged && (a || b));
    a_ = a_t || (some && a);
    b_ = b_t || (some && b);
  }

  bool any() const { return a_ || b_; }
  // Whether the blocks that copy can be counted in an int.
  bool countable() const {
    const std::int64_t m = padded(m_) / kSide, n = padded(n_) / kSide, k = padded(k_) / kSide;
    return (a_ ? m * k : 0) + (b_ ? k * n : 0) < INT_MAX / 2;
  }
  std::size_t bytes() const {
    return sizeof(float) * static_cast<std::size_t>(a_size() + b_size());
  }
  // What it reads and writes.
  double moved() const { return (a_ ? 8.0 * m_ * k_ : 0) + (b_ ? 8.0 * k_ * n_ : 0); }

  // Enqueues the copies, to `workspace`. The same product with what was copied: its K, and its N
  // where B was copied, are rounded up.
  template <kzoo::layout kLayout>
  kzoo::gemm<float> pack(const kzoo::gemm<float, kLayout>& g, void* workspace,
                         kzoo::stream_t stream) const {
    kzoo::gemm<float> of{g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.a, g.b, g.c, g.alpha, g.beta};
    if (!any()) return of;
    auto* const to = static_cast<float*>(workspace);
    copy a{}, b{};
    if (a_) {
      constexpr bool kTransposed = kzoo::is_a_transposed(kLayout);
      a = {g.a, kTransposed ? 1 : g.lda,      kTransposed ? g.lda : 1, g.m, g.k, to,
           g.m, static_cast<int>(padded(g.k))};
      of.a = a.to, of.lda = a.to_cols;
    }
    if (b_) {
      constexpr bool kTransposed = kzoo::is_b_transposed(kLayout);
      b = {g.b,           kTransposed ? 1 : g.ldb,       kTransposed ? g.ldb : 1,      g.k, g.n,
           to + a_size(), static_cast<int>(padded(g.k)), static_cast<int>(padded(g.n))};
      of.b = b.to, of.ldb = b.to_cols, of.n = kzoo::ceil_div(g.n, 4) * 4;
    }
    of.k = static_cast<int>(padded(g.k));
    kzoo::launch({.grid = dim3(a.tiles() + b.tiles()),
                  .block = dim3(kThreads),
                  .max_threads = kThreads,
                  .stream = stream},
                 pack_kernel, copies{{a, b}});
    return of;
  }

 private:
  std::int64_t a_size() const { return a_ ? (m_ * padded(k_) + 63) / 64 * 64 : 0; }
  std::int64_t b_size() const { return b_ ? padded(k_) * padded(n_) : 0; }

  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  bool a_ = false, b_ = false;
};

}  // namespace repacked
