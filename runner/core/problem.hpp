#pragma once
// A GEMM problem: shape, element type, leading dimensions, alpha, beta and data.

#include <kzoo/abi.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kzoo {

// Element types by the names that experiment files and results use: f32, f16, bf16, i32.
inline constexpr std::array<kzoo_type, 4> kElementTypes{KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32};
std::string_view type_name(kzoo_type type);
// 0 when there is no such type.
kzoo_type type_from_name(std::string_view name);
std::size_t type_size(kzoo_type type);
bool is_integer(kzoo_type type);

inline constexpr std::array<kzoo_precision, 6> kPrecisions{
    KZOO_COMPUTE_FP32, KZOO_COMPUTE_TF32,  KZOO_COMPUTE_FP16,
    KZOO_COMPUTE_BF16, KZOO_COMPUTE_INT32, KZOO_COMPUTE_FP32_SPLIT};
std::string_view precision_name(kzoo_precision precision);
// Is a result for f32 matrices as accurate as one of fp32 arithmetic?
bool is_fp32(kzoo_precision precision);

// What the matrices hold. `uniform`: zero-mean in [-1, 1), rounded to the element type.
// `unequal`: the same, but column 0 of A is larger by 2^30 and meets a row of zeros in B: what a
// format with one exponent for a row cannot represent. The others are integers whose sums are exact
// in fp32, in any order of summation: `integers`: in [-8, 8], exact up to K = 2^18; `probe`: exact
// up to K = 4096, with inputs and sums that formats narrower than fp32 cannot hold; `probe_b`: for
// f32, probe with the inputs of A and B exchanged; `signs`: -1, 0 and 1, with so few non-zeros that
// C is exact in every element type at any K.
enum class fill { uniform, integers, probe, signs, unequal, probe_b };
inline constexpr std::array kFills = {fill::uniform, fill::integers, fill::probe,
                                      fill::signs,   fill::unequal,  fill::probe_b};
std::string_view fill_name(fill f);
// The fill of a problem that does not name one: integers for integer types, else uniform.
fill default_fill(kzoo_type type);

// A, B and C each start at a multiple of this many bytes, as from cudaMalloc.
inline constexpr std::uint64_t kMatrixAlignment = 256;

// What a problem may have at most: then no product of its sizes overflows.
inline constexpr std::int64_t kLargestDimension = 1048576;
inline constexpr std::int64_t kMostPadding = 65536;

// C = alpha A B + beta C, all row-major, A is m x k, B is k x n, C is m x n.
struct problem {
  std::int64_t m = 256, n = 256, k = 256;
  kzoo_type dtype = KZOO_F32;  // of A, B and C
  double alpha = 1.0, beta = 0.0;
  fill data = fill::uniform;
  std::int64_t padding = 0;  // elements added to each row of A; twice that of B, three times of C
  std::uint64_t seed = 1;

  std::int64_t lda() const { return k + padding; }
  std::int64_t ldb() const { return n + 2 * padding; }
  std::int64_t ldc() const { return n + 3 * padding; }
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }

  auto operator<=>(const problem&) const = default;
};

// The problem of this size and type, with defaults for everything else.
problem sized(std::int64_t m, std::int64_t n, std::int64_t k, kzoo_type dtype = KZOO_F32);

// "512x512x512", as typed after --sizes and after the @ of a cell's name.
std::string shape_name(const problem& p);
// "512x512x512 f32", with alpha, beta, padding, fill and seed only where they are not the default.
std::string problem_name(const problem& p);

// The problem in the form in which plugins receive it.
kzoo_problem to_abi(const problem& p);

}  // namespace kzoo
