#pragma once
// cp_async's copies (fp32/common/async_copies.hpp) for operands in any layout: what is transposed
// in memory is transposed on its way to shared memory. The first k tile begins before K does, as
// there.
//
// Lines past an edge of C: an operand that is transposed on its way reads its last line again. One
// that keeps its order writes zeros there: where all of these lanes copied the last line, tiles
// that were mostly outside took up to three times as long.

#include <fp32/common/async_copies.hpp>

#include <cstddef>
#include <type_traits>

namespace fast_fp32 {

// How what keeps its order is copied, and whether copies are tested: with a test, loops of the
// larger tiles take up to 6 % longer.
enum class copies {
  whole,     // 16 bytes; untested: K is a multiple of BK, and no line of these is past an edge
  vectors,   // 16 bytes
  pairs,     // 8 bytes
  elements,  // 4 bytes
};

// Where element (k, column) of B's k tile goes. What is transposed on its way needs padding.
template <int kBK, int kBN, bool kTransposed>
struct b_lines {
  static constexpr int kStride = kBN + (kTransposed ? 4 : 0), kSize = kBK * kStride;
  __host__ __device__ static constexpr int at(int k, int col) { return k * kStride + col; }
};

// Where an operand's tile begins, and how far it goes: its lines along `size` (rows of A, columns
// of B) from `first` on, and along K from k0 on, which may be negative.
struct tile_origin {
  const float* from;
  std::ptrdiff_t ld;
  int size, first, k0;
};

// An operand whose rows in memory go along K, such as A in row-major order: its part of a k tile is
// stored transposed, which cp.async can do for one float at a time only. Eight neighbouring threads
// read 32 bytes of a row, and a warp writes to 32 different banks: 8 k, which the padding puts 4
// banks apart, times 4 neighbouring rows. Element (k, i) goes to Layout::at(k, i).
template <class Layout, int kSide, int kBK, int kThreads>
class transposing_copies {
  // One copy by all threads covers kAcross k of kRows rows.
  static constexpr int kAcross = 8, kRows = kThreads / kAcross;
  static constexpr int kRowIterations = kSide / kRows;
  static_assert(kSide % kRows == 0 && kBK % kAcross == 0);

 public:
  static constexpr int kCount = kRowIterations * (kBK / kAcross);

  // padded::at is linear: at(k + k2, row + row2) = at(k, row) + at(k2, row2). So each copy goes to
  // to_ and a constant. (swizzled::at is not linear.)
  __device__ __forceinline__ transposing_copies(const tile_origin& at, int thread) {
    k_ = thread % kAcross;
    const int row = thread / kAcross;
    to_ = Layout::at(k_, row);
#pragma unroll
    for (int i = 0; i < kRowIterations; ++i) {
      from_[i] = at.from + min(at.first + row + i * kRows, at.size - 1) * at.ld + (at.k0 + k_);
    }
  }

  // `read`: the matrix has this element. If not, a zero is written.
  __device__ __forceinline__ void copy(int i, float* tile, bool read) const {
    const int row_iteration = i % kRowIterations, k = i / kRowIterations * kAcross;
    kzoo::copy_async<4>(tile + to_ + Layout::at(k, row_iteration * kRows), from_[row_iteration] + k,
                        read);
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kRowIterations * kAcross + k_; }

  __device__ __forceinline__ void advance(bool has_next) {
#pragma unroll
    for (int i = 0; i < kRowIterations; ++i) from_[i] += has_next ? kBK : 0;
  }

 private:
  const float* from_[kRowIterations];
  int to_, k_;
};

// An operand whose rows in memory go along the tile, such as B in row-major order, keeps its order:
// 16 bytes at a time, where its rows are aligned to that.
template <class Layout, int kSide, int kBK, int kThreads, copies kCopies>
class straight_copies {
  static constexpr int kWidth = kCopies == copies::elements ? 1 : kCopies == copies::pairs ? 2 : 4;
  static constexpr int kPerRow = kSide / kWidth;
  static constexpr int kAcross = kPerRow < kThreads ? kPerRow : kThreads;
  static constexpr int kRows = kThreads / kAcross, kStepCols = kAcross * kWidth;
  static constexpr int kRowIterations = kBK / kRows, kColIterations = kSide / kStepCols;
  static_assert(kBK % kRows == 0 && kSide % kStepCols == 0);

 public:
  static constexpr int kCount = kRowIterations * kColIterations;

  __device__ __forceinline__ straight_copies(const tile_origin& at, int thread) {
    k_ = thread / kAcross;
    const int col = thread % kAcross * kWidth;
    to_ = Layout::at(k_, col);
    row_step_ = kRows * at.ld;
#pragma unroll
    for (int i = 0; i < kColIterations; ++i) {
      const int line = at.first + col + i * kStepCols;
      inside_[i] = line < at.size;
      from_[i] = at.from + (at.k0 + k_) * at.ld + (inside_[i] ? line : 0);
    }
  }

  __device__ __forceinline__ void copy(int i, float* tile, bool read) const {
    const int down = i / kColIterations, across = i % kColIterations;
    kzoo::copy_async<4 * kWidth>(tile + to_ + Layout::at(down * kRows, across * kStepCols),
                                 from_[across] + down * row_step_,
                                 read && (kCopies == copies::whole || inside_[across]));
  }
  __device__ __forceinline__ int k_of(int i) const { return i / kColIterations * kRows + k_; }

  __device__ __forceinline__ void advance(bool has_next) {
#pragma unroll
    for (int i = 0; i < kColIterations; ++i) from_[i] += has_next ? kRowIterations * row_step_ : 0;
  }

 private:
  const float* from_[kColIterations];
  bool inside_[kColIterations];
  std::ptrdiff_t row_step_;
  int to_, k_;
};

// Both parts, as one list of copies, by kThreads threads.
template <class Tile, copies kCopies, int kThreads, kzoo::layout kLayout>
class async_copies {
  static constexpr int kBK = Tile::kBK, kBM = Tile::kBM, kBN = Tile::kBN;
  static constexpr bool kTested = kCopies != copies::whole;
  using a_layout = typename Tile::Layout;
  using b_layout = b_lines<kBK, kBN, kzoo::is_b_transposed(kLayout)>;
  using a_type = std::conditional_t<kzoo::is_a_transposed(kLayout),
                                    straight_copies<a_layout, kBM, kBK, kThreads, kCopies>,
                                    transposing_copies<a_layout, kBM, kBK, kThreads>>;
  using b_type = std::conditional_t<kzoo::is_b_transposed(kLayout),
                                    transposing_copies<b_layout, kBN, kBK, kThreads>,
                                    straight_copies<b_layout, kBN, kBK, kThreads, kCopies>>;

 public:
  static constexpr int kCount = a_type::kCount + b_type::kCount;

  // For the block whose tile of C begins at (row0, col0), from k tile `first` on. `thread`: which
  // of the kThreads.
  __device__ __forceinline__ async_copies(const kzoo::gemm<float, kLayout>& g, int thread, int row0,
                                          int col0, int first)
      : missing_(kzoo::ceil_div(g.k, kBK) * kBK - g.k),
        k_tile_(first),
        a_({g.a, g.lda, g.m, row0, first * kBK - missing_}, thread),
        b_({g.b, g.ldb, g.n, col0, first * kBK - missing_}, thread) {}

  // Copy i of kCount. `read`: the matrix has these elements; if not, zeros are written.
  __device__ __forceinline__ void copy(int i, float* stage, bool read) const {
    if (i < a_type::kCount) {
      a_.copy(i, stage, read);
    } else {
      b_.copy(i - a_type::kCount, stage + Tile::Layout::kSize, read);
    }
  }

  // Steps of k tile `first` that are before the beginning of K.
  __device__ __forceinline__ int missing(int first) const {
    return kTested && first == 0 ? missing_ : 0;
  }

  // All copies of the next k tile. Where there is none (has_tile is false), zeros are written, or
  // without tests the last k tile again, which nobody reads.
  __device__ __forceinline__ void copy_all(float* stage, bool has_tile) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      copy(i, stage, !kTested || (has_tile && (k_tile_ > 0 || k_of(i) >= missing_)));
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
      copy(i, stage, !kTested || has_tile);
    }
  }

  // On to the next k tile, if there is one; else the copies stay where they are.
  __device__ __forceinline__ void advance(bool has_next) {
    a_.advance(has_next);
    b_.advance(has_next);
    if constexpr (kTested) ++k_tile_;
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

// common::read_fragments() for a B whose rows in the stage are kBStride floats apart.
template <class Tile, class Layout, int kBStride, class Coords>
__device__ void read_fragments(const float* a_tile, const float* b_tile, const Coords& coords,
                               int k, float (&a)[Tile::kTM], float (&b)[Tile::kTN]) {
#pragma unroll
  for (int i = 0; i < Tile::kTM; i += 4)
    common::read_vec4(&a_tile[Layout::at(k, coords.row(i))], &a[i]);
#pragma unroll
  for (int j = 0; j < Tile::kTN; j += 4)
    common::read_vec4(&b_tile[k * kBStride + coords.col(j)], &b[j]);
}

}  // namespace fast_fp32
