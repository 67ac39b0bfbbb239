#pragma once
// A GEMM problem: shape, element type, layout, leading dimensions, alpha, beta and data.

#include "core/epilogue.hpp"
#include "core/scale_block.hpp"
#include "data/row_groups.hpp"

#include <kzoo/abi.h>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo {

// 0 for what is no element type.
std::size_t type_size(kzoo_type type);
bool is_integer(kzoo_type type);

// The element types of A, B and C.
struct element_types {
  kzoo_type a = KZOO_F32, b = KZOO_F32, c = KZOO_F32;

  constexpr element_types() = default;
  constexpr element_types(kzoo_type all) : a(all), b(all), c(all) {}
  constexpr element_types(kzoo_type of_a, kzoo_type of_b, kzoo_type of_c)
      : a(of_a), b(of_b), c(of_c) {}
  auto operator<=>(const element_types&) const = default;
};
// Those that a problem may have.
inline constexpr std::array<element_types, 14> kElementTypes{{KZOO_F32,
                                                              KZOO_F16,
                                                              KZOO_BF16,
                                                              KZOO_I32,
                                                              {KZOO_F16, KZOO_F16, KZOO_F32},
                                                              {KZOO_BF16, KZOO_BF16, KZOO_F32},
                                                              KZOO_F64,
                                                              {KZOO_I8, KZOO_I8, KZOO_I32},
                                                              {KZOO_E4M3, KZOO_E4M3, KZOO_F32},
                                                              {KZOO_E4M3, KZOO_E4M3, KZOO_BF16},
                                                              {KZOO_E4M3, KZOO_E5M2, KZOO_BF16},
                                                              {KZOO_E5M2, KZOO_E4M3, KZOO_BF16},
                                                              {KZOO_F16, KZOO_I4, KZOO_F16},
                                                              {KZOO_BF16, KZOO_I4, KZOO_BF16}}};
// "f32", "bf16->f32", "e4m3*e5m2->bf16": as in experiment files and results.
std::string types_name(const element_types& types);
// The one of kElementTypes with this name.
std::optional<element_types> types_from_name(std::string_view name);
// Whether C holds integers; then A and B do too.
bool is_integer(const element_types& types);
// Whether C is of a type whose elements may go through an epilogue: f32, f16 or bf16.
bool has_epilogues(const element_types& types);
// Whether A and B are of 8-bit floating types, which have scales.
bool is_scaled(const element_types& types);
// Whether blocks of A, or of B, may have scales: those of 8-bit floating types, and of a B of 4
// bits.
bool has_scale_blocks(const element_types& types, bool of_b);

inline constexpr std::array<kzoo_precision, 10> kPrecisions{
    KZOO_COMPUTE_FP32,       KZOO_COMPUTE_TF32,         KZOO_COMPUTE_FP16,      KZOO_COMPUTE_BF16,
    KZOO_COMPUTE_INT32,      KZOO_COMPUTE_FP64,         KZOO_COMPUTE_FP16_SUMS, KZOO_COMPUTE_FP8,
    KZOO_COMPUTE_FP32_SPLIT, KZOO_COMPUTE_FP32_NORMWISE};
std::string_view precision_name(kzoo_precision precision);
std::vector<std::string> precision_names(const std::vector<kzoo_precision>& precisions);
std::optional<kzoo_precision> precision_from_name(std::string_view name);

// Some of kPrecisions.
class precision_set {
 public:
  constexpr void add(kzoo_precision p) { bits_ |= 1U << p; }
  constexpr bool contains(kzoo_precision p) const { return p < kMost && (bits_ >> p & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  std::vector<std::string> names() const;
  auto operator<=>(const precision_set&) const = default;

 private:
  static constexpr kzoo_precision kMost = 32;
  std::uint32_t bits_ = 0;
};

// Is a result for f32 matrices as accurate as one of fp32 arithmetic?
bool is_fp32(kzoo_precision precision);

// What a problem asks its matrices to hold, A, B and C together; core/operands.cpp turns it into a
// data::content for each of them. `uniform`: zero-mean in [-1, 1), rounded to the element type.
// `unequal`: the same, but column 0 of A is larger by 2^30 and meets a row of zeros in B: what a
// format with one exponent for a row cannot represent; f32 only. The others are integers whose sums
// are exact in fp32, in any order of summation: `integers`: in [-8, 8], exact up to K = 2^18;
// `probe`: exact up to K = 4096 in the accumulators that the type is made for, with inputs and sums
// that narrower formats cannot hold: see operands.cpp;
// `probe_b`: for f32 and f64, probe with the inputs of A and B exchanged;
// `lone`: each element of C is one of A, or its opposite, with every bit that its type has, since B
// has 1 or -1 in one row of each column, and zeros; `lone_b`: with A and B exchanged;
// `signs`: -1, 0 and 1, with so few non-zeros that C is exact in every element type at any K.
//
// For times, which depend on the data because power limits the clock:
// `normal`: the sum of four numbers uniform in [-1/2, 1/2): zero-mean, with uniform's variance,
// 1/3; `zeros`, `ones`; `sparse`: uniform, but a share of the elements is 0; `powers`: powers of
// two of either sign, from 2^-range to 1; `few_bits`: uniform, cut to so many fraction bits of the
// significand.
//
// For checks alone: `specials`, uniform with a few infinities and NaN, in C too, with a number
// other than 0 NaN alone; `scaled`: uniform, in A and B times 2^number; `uneven`: in A times
// 2^number, in B divided by it; `full` and `full_b`, for integers: all bits in A, or in B, and in
// C, so that products and sums wrap; `unequal_b`: row 0 of B is larger by 2^30 and meets zeros in
// A; `stale`: uniform, but C starts as numbers that are large, times 2^number, where beta is 0 as
// well.
enum class fill {
  uniform,
  integers,
  probe,
  signs,
  normal,
  zeros,
  ones,
  sparse,
  powers,
  few_bits,
  unequal,
  probe_b,
  specials,
  scaled,
  uneven,
  full,
  full_b,
  unequal_b,
  stale,
  lone,
  lone_b
};
// Those that an experiment may name.
inline constexpr std::array kFills = {fill::uniform, fill::integers, fill::probe,   fill::signs,
                                      fill::normal,  fill::zeros,    fill::ones,    fill::sparse,
                                      fill::powers,  fill::few_bits, fill::unequal, fill::probe_b};
std::string_view fill_name(fill f);
// What the number after a fill's name may be: none where `most` is 0.
struct fill_range {
  double least = 0, most = 0;
  bool whole = true;
};
fill_range parameter_of(fill f);

// A fill with its number: "uniform", "sparse:0.9", "few_bits:3". For checks alone: integers of
// floating types with a spread, of which each row of A and each column of B is multiplied by a
// power of two from 2^-spread to 1, and C by both, so that sums are as exact: "probe*2^-20".
struct filling {
  fill what = fill::uniform;
  double parameter = 0;
  int spread = 0;

  constexpr filling() = default;
  constexpr filling(fill f, double number = 0) : what(f), parameter(number) {}
  auto operator<=>(const filling&) const = default;
};
std::string filling_name(const filling& f);
std::optional<filling> filling_from_name(std::string_view name);
// Whether matrices of integers can be filled with it.
bool has_integers(fill f);
// Whether each element of C has one product that is not 0.
constexpr bool has_lone_products(fill f) { return f == fill::lone || f == fill::lone_b; }
// The fill of a problem that does not name one: integers for integer types, else uniform.
fill default_fill(const element_types& types);

// Which operand all products of a batch have in common: its stride is 0.
enum class shared_operand { none, a, b };
inline constexpr std::array kSharedOperands{shared_operand::none, shared_operand::a,
                                            shared_operand::b};
std::string_view shared_name(shared_operand shared);

// "even", "skewed", "half_empty", "single".
std::string_view group_rows_name(data::group_rows how);

// A, B and C each start at a multiple of this many bytes, as from cudaMalloc.
inline constexpr std::uint64_t kMatrixAlignment = 256;

// What a problem may have at most: then no product of its sizes overflows.
inline constexpr std::int64_t kLargestDimension = 1048576;
inline constexpr std::int64_t kMostPadding = 65536;
inline constexpr std::int64_t kMostProducts = 65536;  // of a batch
inline constexpr std::int64_t kMostGroups = 4096;

// C = alpha A B + beta C, or what an epilogue makes of it; A is m x k, B is k x n, C is m x n. C is
// row-major; the layout says which of A and B are transposed in memory. A batch is many such
// products of one shape, each of whose matrices starts a stride after that of the product before.
// With groups, the rows of A and C are split, and each part is multiplied by a B of its own.
struct problem {
  std::int64_t m = 256, n = 256, k = 256;
  element_types dtype{};
  double alpha = 1.0, beta = 0.0;
  filling data{};
  // Elements added to each row of A as it is stored; twice that of B, three times of C.
  std::int64_t padding = 0;
  std::uint64_t seed = 1;
  kzoo::layout layout = kzoo::layout::nn;
  double scale_a = 1.0, scale_b = 1.0;  // what elements of 8-bit floating types are multiplied by
  std::int64_t batch = 1;               // products
  // Elements between the A of one product and the next; twice that of B, three times of C.
  std::int64_t batch_padding = 0;
  shared_operand batch_shared = shared_operand::none;
  stage_list epilogue{};                         // of results of f32, f16 and bf16
  scale_block scale_block_a{}, scale_block_b{};  // of 8-bit floating types: what has a scale each
  std::int64_t groups = 0;                       // of rows; 0: none. Then there is no batch
  data::group_rows group_rows = data::group_rows::even;
  // Lower precisions than that of the types, in which a result may be computed all the same.
  precision_set allow{};
  std::string renewed{};  // the input ("A", "bias") that alone has the numbers of the next seed

  std::int64_t lda() const { return (is_a_transposed(layout) ? m : k) + padding; }
  std::int64_t ldb() const { return (is_b_transposed(layout) ? k : n) + 2 * padding; }
  std::int64_t ldc() const { return n + 3 * padding; }
  // Elements from one product's matrix to the next one's; 0 without a batch.
  std::int64_t stride_a() const {
    const bool one = batch == 1 || batch_shared == shared_operand::a;
    return one ? 0 : (is_a_transposed(layout) ? k : m) * lda() + batch_padding;
  }
  std::int64_t stride_b() const {
    const bool one = groups == 0 && (batch == 1 || batch_shared == shared_operand::b);
    return one ? 0 : (is_b_transposed(layout) ? n : k) * ldb() + 2 * batch_padding;
  }
  std::int64_t stride_c() const { return batch == 1 ? 0 : m * ldc() + 3 * batch_padding; }
  // How many there are in memory.
  std::int64_t count_a() const { return batch_shared == shared_operand::a ? 1 : batch; }
  std::int64_t count_b() const {
    if (groups > 0) return groups;
    return batch_shared == shared_operand::b ? 1 : batch;
  }
  // The rows of C of all products, which are numbered through: row r is row r % m of product r / m.
  std::int64_t all_rows() const { return batch * m; }
  // Whether the elements of a row of B fill whole bytes: of 4 bits, only an even number does.
  bool fills_bytes() const {
    return dtype.b != KZOO_I4 || (is_b_transposed(layout) ? k : n) % 2 == 0;
  }
  bool has_block_scales() const { return !scale_block_a.empty() || !scale_block_b.empty(); }
  double flops() const { return 2.0 * double(all_rows()) * double(n) * double(k); }

  auto operator<=>(const problem&) const = default;
};

// Why matrices of these types have no such product, in a sentence; "": they have.
std::string why_not_of_types(const problem& p);

// What a kernel is told of a problem: without the numbers in its matrices.
problem as_told(problem p);

// The problem of this size and type, with defaults for everything else.
problem sized(std::int64_t m, std::int64_t n, std::int64_t k, const element_types& dtype = {});

// The same kind of problem in another size: with its types, layout, epilogue, scale blocks and
// groups, and defaults for everything else.
problem resized(const problem& like, std::int64_t m, std::int64_t n, std::int64_t k);

// "512x512x512", as typed after --sizes and after the @ of a cell's name.
std::string shape_name(const problem& p);
// "512x512x512 f32", with layout, batch, alpha, beta, scales, padding, fill and seed only where
// they are not the default.
std::string problem_name(const problem& p);
// What it says after shape and type: " nt batch=2", or "".
std::string problem_details(const problem& p);

}  // namespace kzoo
