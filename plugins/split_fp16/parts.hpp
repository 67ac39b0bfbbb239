#pragma once
// What the splitting pass leaves in the workspace: both operands as pairs of fp16 numbers, K-major,
// and something about each row of A and each column of B (a "vector" here).
//
// A vector is scaled by a power of two, so that its largest element is in [2^14, 2^15), and each
// element x becomes hi = fp16(x), lo = fp16(x - hi). 32 steps along K are 128 bytes:
//
//   vector 0    hi of k 0 to 31 | lo of k 0 to 31 | hi of k 32 to 63 | lo of k 32 to 63 | ...
//   vector 1    ...

#include <kzoo/gemm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace split_fp16 {

inline constexpr int kChunk = 32;       // steps along K in 128 bytes
inline constexpr int kLargest = 14;     // exponent of a scaled vector's largest element
inline constexpr float kHigh = 0x1p9f;  // a scaled element from here on is a high one
inline constexpr int kLeastK = 16;      // for fewer terms fp32's own bound is too tight
inline constexpr int kRanges = 8;       // along K, with maxima of their own

// What the splitting pass finds out about a vector.
struct tally {
  static constexpr unsigned kNotHeld = 0x80000000u;

  unsigned largest;  // magnitude of an element, as bits
  unsigned high;     // how many elements are high; kNotHeld: at least one element is not held
};

// That in one word: the exponent e of the vector's scale, 2^-e, and flags.
//
// An element is held if hi + lo differs from it by at most 2^-23 of itself. Where one is not held,
// the difference is at most 2^-25, which still does not matter where both vectors are dense: 5/8 of
// their elements are high, so in K/4 terms or more of the product both factors are. Then sum |a b|
// is at least K/4 2^18, and what is lost at most 2 K 2^-25 2^15, half of 2^-24 sum |a b|.
struct about {
  static constexpr int kNotFinite = 1;  // an infinity, a NaN, or too few terms
  static constexpr int kNotHeld = 2, kNotDense = 4;
  static constexpr int kFar = 8;  // the exponent is far from 0
  static constexpr int kFlags = 15, kFlagBits = 4, kFarthest = 60;

  // Without a guard, the first three flags are not set.
  static __device__ __forceinline__ int word(const tally& t, int k, bool guarded) {
    const std::int64_t high = t.high & ~tally::kNotHeld;
    int flags = 0;
    if (t.largest >= 0x7f800000u || k < kLeastK) flags |= kNotFinite;
    if ((t.high & tally::kNotHeld) != 0) flags |= kNotHeld;
    if (t.largest != 0 && high * 8 < std::int64_t{k} * 5) flags |= kNotDense;
    if (!guarded) flags = 0;
    const int exponent = exponent_of(t.largest);
    if (exponent > kFarthest || exponent < -kFarthest) flags |= kFar;
    return exponent * (1 << kFlagBits) + flags;
  }
  static __device__ __forceinline__ int exponent(int word) { return word >> kFlagBits; }

  // Does an element of C need fp32 arithmetic? `words`: of its row and its column, or of several of
  // them, or-ed together: the answer is then yes if it is for any pair of them.
  static __device__ __forceinline__ bool needs_fp32(int words) {
    return (words & kNotFinite) != 0 || (words & (kNotHeld | kNotDense)) == (kNotHeld | kNotDense);
  }

  // The exponent of the scale for a vector with this largest magnitude.
  static __device__ __forceinline__ int exponent_of(unsigned largest) {
    if (largest == 0 || largest >= 0x7f800000u) return 0;
    const int of_largest = largest >= 0x800000u ? static_cast<int>(largest >> 23) - 127
                                                : -118 - __clz(static_cast<int>(largest));
    return of_largest - kLargest;
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

struct parts {
  std::int64_t m, n, k_chunks;
  __half *a, *b;       // 2 kChunk k_chunks elements for each row of A, each column of B
  tally *rows, *cols;  // about them
  unsigned* maxima;    // of ranges of the columns
  void* end;           // of what this needs of the workspace

  static std::size_t bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
    return reinterpret_cast<std::uintptr_t>(in(nullptr, m, n, k).end);
  }
  static parts in(void* workspace, std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::size_t kAlignment = 256;
    parts p = {};
    p.m = m;
    p.n = n;
    p.k_chunks = (k + kChunk - 1) / kChunk;
    auto next = reinterpret_cast<std::uintptr_t>(workspace);
    const auto take = [&]<class T>(T*& pointer, std::int64_t count) {
      pointer = reinterpret_cast<T*>(next);
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
      next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    take(p.a, m * p.row_length());
    take(p.b, n * p.row_length());
    take(p.rows, m);
    take(p.cols, n);
    take(p.maxima, kRanges * n);
    p.end = reinterpret_cast<void*>(next);
    return p;
  }

  __host__ __device__ std::int64_t row_length() const { return k_chunks * 2 * kChunk; }
};

}  // namespace split_fp16
