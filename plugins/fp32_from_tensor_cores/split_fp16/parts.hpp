#pragma once
// What the splitting pass leaves in the workspace: both operands as sums of narrow numbers,
// K-major, and something about each row of A and each column of B (a "vector" here).
//
// A format says which narrow numbers. For pairs of fp16 a vector is scaled by a power of two, so
// that its largest element is in [2^14, 2^15), and each element x becomes hi = fp16(x),
// lo = fp16(x - hi). A chunk of K, 32 steps, is 128 bytes: those of a row of A are neighbours.
//
//   A, row 0       hi of k 0 to 31 | lo of k 0 to 31   hi of k 32 to 63 | lo of k 32 to 63   ...
//   A, row 1       ...
//
// B is the same, column by column, and past its last column TMA fills tiles with zeros. Where K is
// short, those of all columns in one chunk are neighbours instead, which is a little faster there:
//
//   B, k 0 to 31   hi of column 0 | lo of column 0     hi of column 1 | lo of column 1   ...
//   B, k 32 to 63  ...

#include <kzoo/gemm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace split_fp16 {

inline constexpr int kLeastK = 16;              // for fewer terms fp32's own bound is too tight
inline constexpr int kPanel = 32, kTile = 256;  // columns and steps of B that are split by a block

// What the splitting pass finds out about a vector.
struct vector_summary {
  static constexpr unsigned kNotRepresentable = 0x80000000u;

  unsigned largest;  // magnitude of an element, as bits
  unsigned high;     // how many elements are high; kNotRepresentable: at least one is not exact

  __device__ __forceinline__ bool representable() const { return (high & kNotRepresentable) == 0; }
};

// That in one word: the exponent e of the vector's scale, 2^-e, and flags.
struct about {
  static constexpr int kNotFinite = 1;  // an infinity, a NaN, or too few terms
  static constexpr int kNotRepresentable = 2, kNotWellScaled = 4;
  static constexpr int kFar = 8;  // the exponent is far from 0
  static constexpr int kFlags = 15, kFlagBits = 4, kFarthest = 60;

  // Unguarded, the first three flags are not set.
  template <class Format>
  static __device__ __forceinline__ int word(const vector_summary& t, int k, bool guarded) {
    int flags = guarded ? Format::flags(t, k) | (k < kLeastK ? kNotFinite : 0) : 0;
    const int exponent = Format::exponent_of(t.largest);
    if (exponent > kFarthest || exponent < -kFarthest) flags |= kFar;
    return exponent * (1 << kFlagBits) + flags;
  }
  static __device__ __forceinline__ int exponent(int word) { return word >> kFlagBits; }

  // Does an element of C need fp32 arithmetic? `words`: of its row and its column, or of several of
  // them, or-ed together: the answer is then yes if it is for any pair of them.
  static __device__ __forceinline__ bool needs_fp32(int words) {
    return (words & kNotFinite) != 0 ||
           (words & (kNotRepresentable | kNotWellScaled)) == (kNotRepresentable | kNotWellScaled);
  }
};

// Multiplies by 2^exponent, in two steps, since neither that nor an intermediate result need be in
// the range of a float.
class power_of_two {
 public:
  __device__ __forceinline__ explicit power_of_two(int exponent) {
    exponent = max(-252, min(exponent, 254));
    const int half = exponent >> 1;
    first_ = of(half);
    second_ = of(exponent - half);
  }
  __device__ __forceinline__ float operator*(float x) const { return x * first_ * second_; }

  // 2^exponent, of a normal number.
  static __device__ __forceinline__ float of(int exponent) {
    return __int_as_float((exponent + 127) << 23);
  }

 private:
  float first_, second_;
};

// An element as a pair of fp16 numbers.
//
// It is representable if hi + lo differs from it by at most 2^-23 of itself. The others differ by
// at most 2^-25, which still does not matter where both vectors are well scaled, that is 5/8 of
// their elements are high: then in K/4 terms or more of the product both factors are, sum |a b| is
// at least K/4 2^18, and what is lost at most 2 K 2^-25 2^15, half of 2^-24 sum |a b|. Elements of
// C with neither are computed in fp32 (repair.hpp).
struct fp16_pair {
  using element = __half;
  static constexpr int kParts = 2, kChunk = 32;  // parts, and steps along K that are neighbours

  // The products that replace one, small ones first: hi lo, lo hi, hi hi.
  static constexpr int kProducts = 3;
  static constexpr __host__ __device__ int a_part(int product) { return product == 1; }
  static constexpr __host__ __device__ int b_part(int product) { return product == 0; }

  // The exponent of the scale for a vector with this largest magnitude. The scale is a normal
  // number, so the elements of a tiny vector stay smaller.
  static __device__ __forceinline__ int exponent_of(unsigned largest) {
    constexpr int kLargest = 14, kLowest = -127;
    if (largest == 0 || largest >= 0x7f800000u) return 0;
    return max(static_cast<int>(largest >> 23) - 127 - kLargest, kLowest);
  }

  static __device__ __forceinline__ int flags(const vector_summary& t, int k) {
    const std::int64_t high = t.high & ~vector_summary::kNotRepresentable;
    int flags = 0;
    if (t.largest >= 0x7f800000u) flags |= about::kNotFinite;
    if (!t.representable()) flags |= about::kNotRepresentable;
    if (t.largest != 0 && high * 8 < std::int64_t{k} * 5) flags |= about::kNotWellScaled;
    return flags;
  }

  // The parts of two scaled elements.
  static __device__ __forceinline__ void split(float x, float y, unsigned (&parts)[kParts]) {
    const __half2 hi = __floats2half2_rn(x, y);
    const float2 upper = __half22float2(hi);
    const __half2 lo = __floats2half2_rn(x - upper.x, y - upper.y);
    std::memcpy(&parts[0], &hi, sizeof hi);
    std::memcpy(&parts[1], &lo, sizeof lo);
  }

  // How many of eight elements are high, 2^9 or more: those whose first part has the upper two of
  // its exponent's bits.
  static __device__ __forceinline__ unsigned count_high(const unsigned (&words)[4]) {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) bits |= (words[i] & words[i] << 1 & 0x40004000u) >> i;
    return static_cast<unsigned>(__popc(bits));
  }

  // Scaled elements from here on are representable: lo is off by 2^-25 at most.
  static constexpr float kRepresentable = 0x1p-2f;
  // Is an element x, which is v when it is scaled?
  static __device__ __forceinline__ bool is_representable(float x, float v) {
    const float rest = v - __half2float(__float2half_rn(v));
    const float lost = rest - __half2float(__float2half_rn(rest));
    return fabsf(lost) <= 0x1p-23f * fabsf(v) && (v != 0.0f || x == 0.0f);
  }
};

template <class Format>
struct parts {
  using element = typename Format::element;

  std::int64_t m, n, k_chunks;
  int tiles;                    // of a panel of B along K, with maxima of their own
  element *a, *b;               // kRow elements for each chunk of a row of A, of a column of B
  vector_summary *rows, *cols;  // of them
  unsigned* maxima;             // of columns in each tile
  unsigned long long* ready;    // flags: a tile's maxima are there
  void* end;                    // of what this needs of the workspace

  static constexpr int kRow = Format::kParts * Format::kChunk;

  static std::size_t bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
    return reinterpret_cast<std::uintptr_t>(in(nullptr, m, n, k).end);
  }
  static parts in(void* workspace, std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::size_t kAlignment = 256;
    parts p = {};
    p.m = m;
    p.n = n;
    p.k_chunks = (k + Format::kChunk - 1) / Format::kChunk;
    p.tiles = static_cast<int>((k + kTile - 1) / kTile);
    auto next = reinterpret_cast<std::uintptr_t>(workspace);
    const auto take = [&]<class T>(T*& pointer, std::int64_t count) {
      pointer = reinterpret_cast<T*>(next);
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
      next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    take(p.a, m * p.k_chunks * kRow);
    take(p.b, n * p.k_chunks * kRow);
    take(p.rows, m);
    take(p.cols, n);
    take(p.maxima, p.tiles * n);
    take(p.ready, p.ready_flags());
    p.end = reinterpret_cast<void*>(next);
    return p;
  }

  // B as a matrix that TMA reads: chunk `chunk` of column 0 begins at (b_row(chunk), b_col(chunk)),
  // those of the next columns in the rows below.
  static constexpr int kShortK = 2048;
  __host__ __device__ bool b_by_chunks() const { return padded_k() <= kShortK; }
  __host__ __device__ std::int64_t b_rows() const { return b_by_chunks() ? n * k_chunks : n; }
  __host__ __device__ std::int64_t b_cols() const { return b_by_chunks() ? kRow : k_chunks * kRow; }
  __host__ __device__ std::int64_t b_row(int chunk) const { return b_by_chunks() ? chunk * n : 0; }
  __host__ __device__ std::int64_t b_col(int chunk) const {
    return b_by_chunks() ? 0 : chunk * kRow;
  }

  __host__ __device__ int padded_k() const { return static_cast<int>(k_chunks) * Format::kChunk; }
  __host__ __device__ int panels() const { return static_cast<int>((n + kPanel - 1) / kPanel); }
  __host__ __device__ int ready_flags() const { return panels() * tiles; }
};

}  // namespace split_fp16
