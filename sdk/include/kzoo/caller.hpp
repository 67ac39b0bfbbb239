#pragma once
// Shared by callers of plugins besides the runner: libkzoo, and code that `runner export` writes.

#include <kzoo/abi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace kzoo {

// kzoo_problem::alignment, for kernels that read 16 bytes. Few values, hence few instances.
inline std::uint64_t common_alignment(const void* a, const void* b, const void* c) {
  constexpr std::uint64_t kMost = 256, kVector = 16;
  const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const std::uint64_t alignment = std::uint64_t{1}
                                  << std::countr_zero(address(a) | address(b) | address(c) | kMost);
  return alignment >= kMost ? kMost : std::min(alignment, kVector);
}

// For k = 0, which no kernel takes: computes C as a GEMM of A and B of zeros, in one buffer of
// bytes_of_zeros(). The zeros may be read even if alpha is 0.
inline kzoo_problem product_of_zeros(kzoo_problem p) {
  p.k = 32;  // some kernels take no less
  p.alpha = 0;
  p.lda = p.layout_a == KZOO_ROW_MAJOR ? p.k : p.m;
  p.ldb = p.layout_b == KZOO_ROW_MAJOR ? p.n : p.k;
  p.stride_a = p.stride_b = 0;
  return p;
}
inline std::uint64_t bytes_of_zeros(const kzoo_problem& p) {
  const std::uint64_t most = p.type_a == KZOO_F64 || p.type_b == KZOO_F64 ? 8 : 4;
  return static_cast<std::uint64_t>(std::max(p.m, p.n) * p.k) * most;
}

// The key of a lookup: all fields of a problem without epilogue, as words.
using plain_problem =
    std::array<std::uint64_t, offsetof(kzoo_problem, operand_count) / sizeof(std::uint64_t)>;
inline plain_problem words_of(const kzoo_problem& p) {
  plain_problem words;
  std::memcpy(words.data(), &p, sizeof words);
  return words;
}

// Elements from the first to the end of the last of `count` parts of `length`, `stride` apart:
// lines of a matrix, or matrices of a batch. Nothing above 2^56, so that offsets, also in bytes,
// cannot overflow.
inline std::optional<std::int64_t> extent(std::int64_t count, std::int64_t stride,
                                          std::int64_t length) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  if (count == 0) return 0;
  if (length > kMost || (count > 1 && stride > (kMost - length) / (count - 1))) return {};
  return (count - 1) * stride + length;
}

struct problem_sizes {
  double m, n, k, batch;
};

// Distance between two problems: the sum of squared logarithms of size ratios.
inline double distance(const problem_sizes& x, const problem_sizes& y) {
  const auto square = [](double a, double b) { return std::pow(std::log2(a / b), 2); };
  return square(x.m, y.m) + square(x.n, y.n) + square(x.k, y.k) + square(x.batch, y.batch);
}

// The buffer for a plugin's reason to reject or fail.
class reason {
 public:
  kzoo_text* text() { return &text_; }
  // "" if the plugin gave no reason.
  std::string words() const { return {words_.data(), strnlen(words_.data(), words_.size())}; }

 private:
  std::array<char, 1024> words_{};
  kzoo_text text_{words_.data(), words_.size()};
};

}  // namespace kzoo
