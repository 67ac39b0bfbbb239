#pragma once
// Stages of k tiles in shared memory, and the asynchronous copies (cp.async) that fill them. A k
// tile is what one iteration of the main loop needs: BM x BK of A, BK x BN of B. Copies use no
// registers while they are on their way. They are numbered, so that a kernel can issue some now and
// some later.
//
// Edges of C are not tested: rows of A and columns of B past an edge are read from the last one
// inside, and what they contribute is never stored. Where K is no multiple of BK, the first k tile
// begins before K does and is filled up with zeros. All others are full, so that no copy in the
// main loop has to be tested against the end of K.
//
//   k tile     0          1          2              K = 21, BK = 8: missing_ = 3
//   k        |...0 1 2 3 4|5 .. 12 |13 .. 20|       . : zeros

#include <fp32/common/bank_layouts.hpp>
#include <fp32/common/warp_tiling.hpp>
#include <kzoo/async_copy.hpp>

#include <cstddef>

namespace common {

// A warp tiling with Stages stages. A stage: A's k tile, transposed and padded, then B's.
template <class WarpTiling, int Stages, int BlocksPerSm = 1>
struct staged : WarpTiling {
  using Layout = padded<WarpTiling>;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kStage = Layout::kSize + WarpTiling::kBK * WarpTiling::kBN;  // floats
  static constexpr std::size_t kSharedBytes = sizeof(float) * Stages * kStage;
  static_assert(Stages >= 2, "one stage is read while another is filled");

  // Whether the aligned kernel may run: B is copied and C stored 16 bytes at a time, and K needs no
  // zeros. Tiles may hang over edges of C.
  static bool aligned(const kzoo::gemm<float>& g) {
    return g.k % WarpTiling::kBK == 0 && g.n % 4 == 0 && g.rows_aligned(16);
  }
  // Why no block of the device can have the stages, or nullptr.
  static const char* too_much_shared_memory(const kzoo_device& d) {
    return d.kind == KZOO_CPU || kSharedBytes <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }
};

// A's part of a k tile. It is stored transposed, which cp.async can do for one float at a time
// only. Eight neighbouring threads read 32 bytes of a row, and a warp writes to 32 different banks:
// 8 k, which the padding puts 4 banks apart, times 4 neighbouring rows.
template <class Tile, int kThreads>
class a_copies {
  // One copy by all threads covers kAcross k of kRows rows.
  static constexpr int kAcross = 8, kRows = kThreads / kAcross;
  static constexpr int kRowIterations = Tile::kBM / kRows;
  static_assert(Tile::kBM % kRows == 0 && Tile::kBK % kAcross == 0);

 public:
  static constexpr int kCount = kRowIterations * (Tile::kBK / kAcross);

  // From row row0 and column k0 of A on; k0 may be negative. padded::at is linear: at(k + k2, row +
  // row2) = at(k, row) + at(k2, row2). So each copy goes to to_ and a constant. (swizzled::at is
  // not linear.)
  __device__ __forceinline__ a_copies(const kzoo::gemm<float>& g, int thread, int row0, int k0) {
    k_ = thread % kAcross;
    const int row = thread / kAcross;
    to_ = Tile::Layout::at(k_, row);
#pragma unroll
    for (int i = 0; i < kRowIterations; ++i) {
      from_[i] = g.a + min(row0 + row + i * kRows, g.m - 1) * g.lda + (k0 + k_);
    }
  }

  // `read`: A has this element. If not, a zero is written.
  __device__ __forceinline__ void copy(int i, float* a_tile, bool read) const {
    const int row_iteration = i % kRowIterations, k = i / kRowIterations * kAcross;
    kzoo::copy_async<4>(a_tile + to_ + Tile::Layout::at(k, row_iteration * kRows),
                        from_[row_iteration] + k, read);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kRowIterations * kAcross + k_; }

  __device__ __forceinline__ void advance(bool has_next) {
#pragma unroll
    for (int i = 0; i < kRowIterations; ++i) from_[i] += has_next ? Tile::kBK : 0;
  }

 private:
  const float* from_[kRowIterations];
  int to_, k_;
};

// B's part keeps its order: 16 bytes at a time, where its rows are aligned to that.
template <class Tile, int kThreads, bool kAligned>
class b_copies {
  static constexpr int kWidth = kAligned ? 4 : 1, kPerRow = Tile::kBN / kWidth;
  static constexpr int kAcross = kPerRow < kThreads ? kPerRow : kThreads;
  static constexpr int kRows = kThreads / kAcross, kStepCols = kAcross * kWidth;
  static constexpr int kRowIterations = Tile::kBK / kRows, kColIterations = Tile::kBN / kStepCols;
  static_assert(Tile::kBK % kRows == 0 && Tile::kBN % kStepCols == 0);

 public:
  static constexpr int kCount = kRowIterations * kColIterations;

  __device__ __forceinline__ b_copies(const kzoo::gemm<float>& g, int thread, int col0, int k0) {
    k_ = thread / kAcross;
    const int col = thread % kAcross * kWidth;
    to_ = k_ * Tile::kBN + col;
    row_step_ = kRows * g.ldb;
#pragma unroll
    for (int i = 0; i < kColIterations; ++i) {
      from_[i] = g.b + (k0 + k_) * g.ldb + min(col0 + col + i * kStepCols, g.n - kWidth);
    }
  }

  __device__ __forceinline__ void copy(int i, float* b_tile, bool read) const {
    const int down = i / kColIterations, across = i % kColIterations;
    kzoo::copy_async<4 * kWidth>(b_tile + to_ + down * kRows * Tile::kBN + across * kStepCols,
                                 from_[across] + down * row_step_, read);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kColIterations * kRows + k_; }

  __device__ __forceinline__ void advance(bool has_next) {
#pragma unroll
    for (int i = 0; i < kColIterations; ++i) from_[i] += has_next ? kRowIterations * row_step_ : 0;
  }

 private:
  const float* from_[kColIterations];
  std::ptrdiff_t row_step_;
  int to_, k_;
};

// Both parts, as one list of copies, by kThreads threads.
template <class Tile, bool kAligned, int kThreads = Tile::kThreads>
class async_copies {
  using a_type = a_copies<Tile, kThreads>;
  using b_type = b_copies<Tile, kThreads, kAligned>;

 public:
  static constexpr int kCount = a_type::kCount + b_type::kCount;

  // For the block whose tile of C begins at (row0, col0), from k tile `first` on. `thread`: which
  // of the kThreads.
  __device__ __forceinline__ async_copies(const kzoo::gemm<float>& g, int thread, int row0,
                                          int col0, int first)
      : missing_(kzoo::ceil_div(g.k, Tile::kBK) * Tile::kBK - g.k),
        k_tile_(first),
        a_(g, thread, row0, first * Tile::kBK - missing_),
        b_(g, thread, col0, first * Tile::kBK - missing_) {}

  // Copy i of kCount. `read`: the matrix has these elements; if not, zeros are written.
  __device__ __forceinline__ void copy(int i, float* stage, bool read) const {
    if (i < a_type::kCount) {
      a_.copy(i, stage, read);
    } else {
      b_.copy(i - a_type::kCount, stage + Tile::Layout::kSize, read);
    }
  }

  // All copies of the next k tile. Where there is none (has_tile is false), the predicated kernel
  // writes zeros, and the aligned kernel copies the last k tile again, which nobody reads: a test
  // at each copy costs 2 % (pipelined's README).
  __device__ __forceinline__ void copy_all(float* stage, bool has_tile) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      copy(i, stage, kAligned || (has_tile && (k_tile_ > 0 || k_of(i) >= missing_)));
    }
  }

  // The same, spread over the first steps - 1 of `steps` k steps: this issues the copies of k step
  // `k`. Not for k tile 0, which may begin before K does.
  __device__ __forceinline__ void copy_in_step(int k, int steps, float* stage,
                                               bool has_tile) const {
    // Spread evenly, but at least two in each: one costs 1 to 3 % (pipelined's README).
    const int evenly = (kCount + steps - 2) / (steps - 1), per_step = evenly > 2 ? evenly : 2;
#pragma unroll
    for (int i = k * per_step; i < (k + 1) * per_step && i < kCount; ++i) {
      copy(i, stage, kAligned || has_tile);
    }
  }

  // On to the next k tile, if there is one; else the copies stay where they are.
  __device__ __forceinline__ void advance(bool has_next) {
    a_.advance(has_next);
    b_.advance(has_next);
    if constexpr (!kAligned) ++k_tile_;
  }

 private:
  // The k that copy i copies (the first of them), counted from the beginning of the k tile.
  __device__ __forceinline__ int k_of(int i) const {
    return i < a_type::kCount ? a_.k_of(i) : b_.k_of(i - a_type::kCount);
  }

  int missing_;  // k steps of k tile 0 that are before the beginning of K
  int k_tile_;
  a_type a_;
  b_type b_;
};

// The epilogue, for a tile that may hang over edges of C in the aligned kernel, too: N is a
// multiple of four there, so that all four accumulators of a float4 are inside, or none.
template <bool kAligned, class Coords, int TN>
__device__ __forceinline__ void store_row_inside(const kzoo::gemm<float>& g, const Coords& coords,
                                                 int i, const float (&acc)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; j += 4) {
    const int row = coords.row0 + coords.row(i), col = coords.col0 + coords.col(j);
    if (!kAligned || (row < g.m && col < g.n)) store_c<kAligned>(g, row, col, &acc[j]);
  }
}
template <bool kAligned, class Coords, int TM, int TN>
__device__ __forceinline__ void store_tile_inside(const kzoo::gemm<float>& g, const Coords& coords,
                                                  const float (&acc)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) store_row_inside<kAligned>(g, coords, i, acc[i]);
}

}  // namespace common
