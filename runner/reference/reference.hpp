#pragma once
// Judges results against an expected result that it computes itself, in fp64 on the CPU, and in
// double-double for fp64 matrices, from the same generator as the inputs. It never runs plugin
// code.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "data/contents.hpp"
#include "reference/formula.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::reference {

// How far each element of a result may be from the expected one, with u = 2^-24, or 2^-53 where
// fp64 is declared, 2^-11 for fp16 sums:
//   |C^ - C| <= u * (kGrowth * sqrt(K) + kSlack) * S     S = |alpha| |A||B| + |beta| |C0|
//             + u * kWalk * sqrt(K) * |beta| |C0|
//                                          accumulators that start at beta C0 round K times at its
//                                          magnitude
//             + 2 * u_in * min(1, kWalk / sqrt(K)) * |alpha| |A||B|
//                                          inputs declared narrower than the element type;
//                                          TF32: u_in = 2^-10, the low bits are cut off
//             + 2^-13 * min(kFp8Most, kFp8Walk / sqrt(K)) * |alpha| |A||B|
//                                          where fp8 is declared: tensor cores keep 14 bits of a
//                                          sum of up to 128 products
//             + u_out * |C|                16-bit C: one rounding to the output type
//             + u_out * (|C| + |beta| |C0|)
//                                          16-bit C, where beta is not 0: A B may be rounded to
//                                          that type before beta C0 is added, as cuBLAS does
//             + tiny                       half the smallest subnormal of that type, twice where
//                                          beta C0 is a second term
// Data are zero-mean, so partial sums and the errors of inputs grow like random walks. A sequential
// fp32 sum stays under 6 u S for every K; sums that are truncated, not rounded, at every fourth
// term (tensor cores) need 0.6 u sqrt(K) S, and TF32 inputs half of kWalk. No error at all is
// allowed where S = 0, for integer types, and for sums of integers (fills of integers,
// integer alpha and beta, S < 2^24), which are exact in fp32 in any order; in fp64 below 2^53, with
// fp16 sums below 2^11, with fp8 below 2^13.
inline constexpr double kGrowth = 1.0;
inline constexpr double kSlack = 6.0;
inline constexpr double kWalk = 4.0;
inline constexpr double kFp8Unit = 0x1p-13;
inline constexpr double kFp8Most = 4.0;
inline constexpr double kFp8Walk = 32.0;
// Where fp32_normwise is declared, the first two lines are instead
//             u * (kLevelGrowth * sqrt(K) + kLevelSlack) * N     N = |alpha| K ||A|| ||B||
//                                                                    + |beta| ||C0||
//             + u * kWalk * sqrt(K) * |beta| ||C0||
// with the largest magnitude that a matrix can hold as its norm: data::norm_of(). The bound is the
// same for all elements, also where S = 0. Integers are exact while kLevelPeak * N < 2^24.
inline constexpr double kLevelGrowth = 3.0;
inline constexpr double kLevelSlack = 25.0;
inline constexpr double kLevelPeak = 6.0;

// The magnitudes of one element, all >= 0: |C|, S and |alpha||A||B| in the formula above.
struct sizes {
  double value, sum, products;
};

// The expected result of one problem. Above max_products FMAs or kMaxElements elements only some
// rows are computed: the first, the last, and others spread evenly between them at random offsets.
class expected_result {
 public:
  static constexpr double kMaxProducts = 7e10;  // a bit above 4096^3: 2 s on 2 AVX-512 cores
  static constexpr double kMaxElements = 7e7;   // 800 MB
  static constexpr double kDoubleDouble = 16;   // times as long takes a product in double-double

  // `key`: which rows are computed where not all are.
  explicit expected_result(const problem& p, double max_products = kMaxProducts,
                           std::uint64_t key = 0);

  // How many rows the constructor will compute.
  static std::int64_t rows_of(const problem& p, double max_products = kMaxProducts);

  const problem& of() const { return problem_; }
  // The numbers of the computed rows, ascending; all rows of all products for ordinary sizes.
  const std::vector<std::int64_t>& rows() const { return rows_; }
  bool complete() const { return std::int64_t(rows_.size()) == problem_.all_rows(); }

  // Element (rows()[r], col) of C, and the magnitudes in its error bound.
  double value(std::size_t r, std::int64_t col) const { return value_[at(r, col)]; }
  sizes sizes_of(std::size_t r, std::int64_t col) const;

 private:
  std::size_t at(std::size_t r, std::int64_t col) const {
    return r * std::size_t(problem_.n) + std::size_t(col);
  }

  problem problem_;
  operands operands_;
  scalars scalars_;
  std::vector<std::int64_t> rows_;
  std::vector<double> value_;
  std::vector<float> products_;  // |A||B|, without alpha: the product could be beyond fp32
};

struct accuracy {
  double max_abs_error = 0;
  double max_rho = 0;           // max of |C^ - C| / (u S), for a narrower C without the part that
                                // one rounding to it explains; integers: of |C^ - C|
  double rho_over_sqrt_k = 0;   // the same over sqrt(K)
  double worst_of_allowed = 0;  // max of |C^ - C| / allowed; <= 1 passes
  std::int64_t worst_row = 0, worst_col = 0;
  double relative_frobenius = 0;  // ||C^ - C||_F / ||C||_F
  double digits = 0;              // -log10 of it, from 0 to 17
  std::int64_t rows_checked = 0;  // 0: not measured, as C has unwritten or non-finite elements
};

// An element that differs from the expected one.
struct differing {
  std::int64_t row = 0, col = 0;
  double expected = 0, got = 0;
  bool unwritten = false;
};

// Where C is wrong: error_map.hpp.
struct error_map {
  std::int64_t rows_per_line = 1, columns_per_character = 1;
  std::vector<std::string> picture;
  std::vector<differing> first;  // a few, in the order of C
  // Of a batch, whose products are below each other; 0 where there is one.
  std::int64_t rows_per_product = 0;
};

struct judgement {
  bool right = false;
  std::string reason;  // a sentence when not right
  reference::accuracy accuracy;
  std::optional<error_map> errors;  // only where requested

  void refuse(std::string why) {
    right = false;
    reason = std::move(why);
  }
};

// The rows that the expected result covers, without padding and redzones, in the problem's element
// type: what compare() takes. rows * n * element size bytes.
struct result {
  std::vector<std::byte> elements;
};
result keep(const expected_result& t, std::span<const std::byte> words);

// `words`: the whole C buffer after the kernel, data::word_count(operands.c) elements of the
// problem's type, redzones included; another size throws std::invalid_argument. Checks in this
// order, and the first failure is the reason:
// 1. words outside the matrix (redzones, row padding) are unchanged;
// 2. beta = 0: no poison left inside ("not written: 256 of 65536 elements of C (0.391%) still hold
//    the poison: column 255 of every row", or "the kernel wrote nothing: ...");
// 3. every element is finite, in all rows (infinity is correct where the expected value overflows
//    the type);
// 4. every element of the rows that `t` covers is within tolerance::allowed().
// The reason says how many elements fail, where, the expected and the actual value, the pattern if
// they form one, and a likely cause if a few elements prove one: all zero; alpha or beta left out;
// A A, or a transposed matrix; terms along k dropped; inputs rounded to TF32, fp16 or bf16; sums
// kept in 16 bits.
judgement judge(const expected_result& t, kzoo_precision declared,
                std::span<const std::byte> words);
// Judges only the rows that the expected result covers: for a result whose other rows are known to
// be written and finite.
judgement judge(const expected_result& t, kzoo_precision declared, const result& rows);

struct comparison {
  double max_abs_diff = 0;  // NaN or infinite if a value on either side is and the other differs
  double worst_of_allowed = 0;  // max of |x - y| / (allowed by x + allowed by y)
  std::int64_t worst_row = 0, worst_col = 0;
  bool agree = false;  // worst_of_allowed <= 1, and no NaN on either side
};
comparison compare(const expected_result& t, const result& x, kzoo_precision x_declared,
                   const result& y, kzoo_precision y_declared);

}  // namespace kzoo::reference
