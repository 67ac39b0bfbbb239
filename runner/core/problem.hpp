#pragma once
// A GEMM problem: shape, element type, layout, leading dimensions, alpha, beta and data.

#include "data/matrix.hpp"
#include "os/enums.hpp"

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

// Stages applied in order to each element of alpha A B + beta C before it is stored: "bias + relu".
// Some stages have an operand with the stage's name, besides A, B and C.

// `bias`: adds a vector of N, the same for all rows; `row_bias`: a vector of M, the same for all
// columns; `residual`: an M x N matrix. `column_scale`, `row_scale`: multiply by a vector of N or
// M. `relu`: max(x, 0). `gelu`: x times x's normal distribution function, by erf (Hendrycks and
// Gimpel 2016); `gelu_tanh`: their tanh approximation. `silu`: x / (1 + exp(-x)). `clamp`:
// min(max(x, low), high).
KZOO_ENUM(stage_kind, bias, row_bias, residual, column_scale, row_scale, relu, gelu, gelu_tanh,
          silu, clamp);
constexpr bool adds(stage_kind kind) { return kind <= stage_kind::residual; }
constexpr bool multiplies(stage_kind kind) {
  return kind == stage_kind::column_scale || kind == stage_kind::row_scale;
}
kzoo_stage_kind stage_kind_of(stage_kind kind);  // in the ABI
constexpr bool has_operand(stage_kind kind) { return adds(kind) || multiplies(kind); }

struct epilogue_stage {
  stage_kind kind = stage_kind::relu;
  kzoo_type type = 0;        // the operand's; 0: C's type, for scales f32
  double low = 0, high = 0;  // clamp's limits

  auto operator<=>(const epilogue_stage&) const = default;
};
using stage_list = std::vector<epilogue_stage>;  // empty: C = alpha A B + beta C

inline constexpr std::size_t kMostStages = KZOO_MOST_STAGES;

// "bias + relu", "bias:f32 + clamp(-1, 1)", and back. Throws std::invalid_argument.
std::string epilogue_name(const stage_list& stages);
stage_list epilogue_from_name(std::string_view name);

// A block of A or B with a common scale: `extent` rows of A (columns of B) by `depth` elements of
// K; 0: no blocks.
struct scale_block {
  std::int64_t extent = 0, depth = 0;

  bool empty() const { return extent == 0; }
  auto operator<=>(const scale_block&) const = default;
};
inline constexpr std::int64_t kLargestScaleBlock = 65536;

// "1x128", and back, both from 1 to kLargestScaleBlock. No block has an empty name.
std::string scale_block_name(const scale_block& block);
std::optional<scale_block> scale_block_from_name(std::string_view name);

// Bytes of a stored element (of two elements, for int4); 0 if `type` is no element type.
std::size_t type_size(kzoo_type type);
bool is_integer(kzoo_type type);

struct element_types {
  kzoo_type a = KZOO_F32, b = KZOO_F32, c = KZOO_F32;

  constexpr element_types() = default;
  constexpr element_types(kzoo_type all) : a(all), b(all), c(all) {}
  constexpr element_types(kzoo_type of_a, kzoo_type of_b, kzoo_type of_c)
      : a(of_a), b(of_b), c(of_c) {}
  auto operator<=>(const element_types&) const = default;
};
// The combinations that a problem may have.
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
// The element of kElementTypes with this name.
std::optional<element_types> types_from_name(std::string_view name);
// Whether C holds integers; then A and B do too.
bool is_integer(const element_types& types);
// Whether C's type allows an epilogue: f32, f16 or bf16.
bool has_epilogues(const element_types& types);
// Whether A and B have 8-bit floating-point types, which have scales.
bool is_scaled(const element_types& types);
// Whether A (or B) may have block scales: 8-bit floating-point types, and an int4 B.
bool has_scale_blocks(const element_types& types, bool of_b);

inline constexpr std::array<kzoo_precision, 10> kPrecisions{
    KZOO_COMPUTE_FP32,       KZOO_COMPUTE_TF32,         KZOO_COMPUTE_FP16,      KZOO_COMPUTE_BF16,
    KZOO_COMPUTE_INT32,      KZOO_COMPUTE_FP64,         KZOO_COMPUTE_FP16_SUMS, KZOO_COMPUTE_FP8,
    KZOO_COMPUTE_FP32_SPLIT, KZOO_COMPUTE_FP32_NORMWISE};
std::string_view precision_name(kzoo_precision precision);
std::vector<std::string> precision_names(const std::vector<kzoo_precision>& precisions);
std::optional<kzoo_precision> precision_from_name(std::string_view name);

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

// Whether results for f32 matrices are as accurate as fp32 arithmetic.
bool is_fp32(kzoo_precision precision);

// Contents of A, B and C; core/operands.cpp derives each matrix's data::content.
// `uniform`: zero-mean in [-1, 1), rounded to the element type. `unequal` (f32 only): uniform, but
// column 0 of A is larger by 2^30 and meets a row of zeros in B: formats with one exponent per row
// cannot represent it.
// Integers whose sums are exact in fp32, in any order: `integers`: in [-8, 8], exact up to K =
// 2^18; `probe`: exact up to K = 4096 in the type's usual accumulators, with inputs and sums that
// narrower formats cannot hold (operands.cpp); `probe_b`: for f32 and f64, probe with A and B
// exchanged; `lone`: each element of C is an element of A, or its negative, with all bits of its
// type, since each column of B is 1 or -1 in one row and 0 elsewhere; `lone_b`: A and B exchanged;
// `signs`: -1, 0 and 1, sparse enough for C to be exact in every element type at any K.
//
// For timing, which depends on the data because power limits the clock: `normal`: the sum of four
// numbers uniform in [-1/2, 1/2), zero-mean with uniform's variance, 1/3; `zeros`, `ones`;
// `sparse`: uniform with a share of zeros; `powers`: powers of two of either sign, from 2^-range to
// 1; `few_bits`: uniform, cut to some fraction bits.
//
// Only for checks: `specials`: uniform with a few infinities and NaN (with a nonzero number only
// NaN), in C too; `scaled`: uniform, in A and B times 2^number; `uneven`: in A times 2^number, in B
// divided by it; `full`, `full_b`: integers with all bits in A, or in B, and in C, so that products
// and sums wrap; `unequal_b`: row 0 of B is larger by 2^30 and meets zeros in A; `stale`: uniform,
// but C starts with large numbers, times 2^number, even if beta is 0.
KZOO_ENUM(fill, uniform, integers, probe, signs, normal, zeros, ones, sparse, powers, few_bits,
          unequal, probe_b, specials, scaled, uneven, full, full_b, unequal_b, stale, lone, lone_b);
// The fills that an experiment may name.
inline constexpr std::array kFills = {fill::uniform, fill::integers, fill::probe,   fill::signs,
                                      fill::normal,  fill::zeros,    fill::ones,    fill::sparse,
                                      fill::powers,  fill::few_bits, fill::unequal, fill::probe_b};
// Range of the number after a fill's name; `most` 0: no number.
struct fill_range {
  double least = 0, most = 0;
  bool whole = true;
};
fill_range parameter_of(fill f);

// A fill with its number: "uniform", "sparse:0.9", "few_bits:3". `spread`, only for checks, on
// integers of floating-point types: each row of A and column of B is multiplied by a power of two
// from 2^-spread to 1, and C by both. Sums stay exact: "probe*2^-20".
struct filling {
  fill kind = fill::uniform;
  double parameter = 0;
  int spread = 0;

  constexpr filling() = default;
  constexpr filling(fill f, double number = 0) : kind(f), parameter(number) {}
  auto operator<=>(const filling&) const = default;
};
std::string filling_name(const filling& f);
std::optional<filling> filling_from_name(std::string_view name);
// Whether matrices of integers can be filled with it.
bool has_integers(fill f);
// Whether each element of C has only one nonzero product.
constexpr bool has_lone_products(fill f) { return f == fill::lone || f == fill::lone_b; }
// The default fill: integers for integer types, else uniform.
fill default_fill(const element_types& types);

// The operand that all GEMMs of a batch share: its stride is 0.
KZOO_ENUM(shared_operand, none, a, b);

// A, B and C each start at a multiple of this many bytes, as from cudaMalloc.
inline constexpr std::uint64_t kMatrixAlignment = 256;

// Limits of a problem: products of its sizes do not overflow.
inline constexpr std::int64_t kLargestDimension = 1048576;
inline constexpr std::int64_t kMostPadding = 65536;
inline constexpr std::int64_t kLargestBatch = 65536;  // GEMMs in a batch
inline constexpr std::int64_t kMostGroups = 4096;

// C = alpha A B + beta C, then the epilogue. A is m x k, B is k x n, C is m x n. C is row-major;
// the layout tells which of A and B are transposed in memory. In a batch, GEMMs of one shape follow
// each other at a fixed stride. With groups (grouped GEMM), each group of rows of A and C has its
// own B.
struct problem {
  std::int64_t m = 256, n = 256, k = 256;
  element_types dtype{};
  double alpha = 1.0, beta = 0.0;
  filling data{};
  // Elements added to each stored row of A; twice as many for B, three times for C.
  std::int64_t padding = 0;
  std::uint64_t seed = 1;
  kzoo::layout layout = kzoo::layout::nn;
  double scale_a = 1.0, scale_b = 1.0;  // factors of elements of 8-bit floating-point types
  std::int64_t batch = 1;               // number of GEMMs
  // Elements between two matrices A of a batch; twice as many for B, three times for C.
  std::int64_t batch_padding = 0;
  shared_operand batch_shared = shared_operand::none;
  stage_list epilogue{};                         // only if C is f32, f16 or bf16
  scale_block scale_block_a{}, scale_block_b{};  // the part of A and of B with a common scale
  std::int64_t groups = 0;                       // groups of rows, without a batch; 0: none
  data::group_rows group_rows = data::group_rows::even;
  // Lower precisions than the types' usual one that are accepted.
  precision_set allow{};
  std::string renewed{};  // the only input ("A", "bias") with the next seed's numbers

  std::int64_t lda() const { return (is_a_transposed(layout) ? m : k) + padding; }
  std::int64_t ldb() const { return (is_b_transposed(layout) ? k : n) + 2 * padding; }
  std::int64_t ldc() const { return n + 3 * padding; }
  // Elements between two matrices of a batch; 0 without a batch.
  std::int64_t stride_a() const {
    const bool one = batch == 1 || batch_shared == shared_operand::a;
    return one ? 0 : (is_a_transposed(layout) ? k : m) * lda() + batch_padding;
  }
  std::int64_t stride_b() const {
    const bool one = groups == 0 && (batch == 1 || batch_shared == shared_operand::b);
    return one ? 0 : (is_b_transposed(layout) ? n : k) * ldb() + 2 * batch_padding;
  }
  std::int64_t stride_c() const { return batch == 1 ? 0 : m * ldc() + 3 * batch_padding; }
  // Matrices in memory.
  std::int64_t count_a() const { return batch_shared == shared_operand::a ? 1 : batch; }
  std::int64_t count_b() const {
    if (groups > 0) return groups;
    return batch_shared == shared_operand::b ? 1 : batch;
  }
  // Rows of C over the batch: row r is row r % m of GEMM r / m.
  std::int64_t all_rows() const { return batch * m; }
  // Whether a row of B fills whole bytes: an int4 row needs an even number of elements.
  bool fills_bytes() const {
    return dtype.b != KZOO_I4 || (is_b_transposed(layout) ? k : n) % 2 == 0;
  }
  bool has_block_scales() const { return !scale_block_a.empty() || !scale_block_b.empty(); }
  double flops() const { return 2.0 * double(all_rows()) * double(n) * double(k); }

  auto operator<=>(const problem&) const = default;
};

// Why matrices of these types allow no such GEMM, in a sentence; absent if they do.
std::optional<std::string> why_not_of_types(const problem& p);

// The problem as a kernel sees it: without the numbers in its matrices.
problem as_told(problem p);

// The problem of this size and type, with defaults for everything else.
problem sized(std::int64_t m, std::int64_t n, std::int64_t k, const element_types& dtype = {});

// A problem of another size with the same types, layout, epilogue, scale blocks and groups.
problem resized(const problem& like, std::int64_t m, std::int64_t n, std::int64_t k);

// "512x512x512", as typed after --sizes and after the @ of a cell's name.
std::string shape_name(const problem& p);
// "512x512x512 f32", with everything else only if it is not the default.
std::string problem_name(const problem& p);
// The part after shape and type: " nt batch=2". Empty if all is the default.
std::string problem_details(const problem& p);

// Sizes that a variant takes.

// M, N and K are multiples of these; each row starts at a multiple of row_bytes.
struct size_granularity {
  std::int64_t m = 1, n = 1, k = 1, row_bytes = 1;
};

// The common multiples of both. Multiples beyond the largest size are cut off.
size_granularity both_of(const size_granularity& x, const size_granularity& y);

// The next larger problem that satisfies `g`.
problem rounded_up(problem p, const size_granularity& g);

// Bytes of the smallest element type; rows of all matrices are counted in it.
std::int64_t narrowest(const element_types& types);

// The first violated condition of `g`, if any: "M a multiple of 128, not 100".
std::optional<std::string> broken_by(const size_granularity& g, const problem& p);

// Declared precisions: their accuracy for inputs and sums, and their order.

// The stored fraction bits of a floating-point type.
int stored_bits(kzoo_type type);
// The fraction bits that a declared precision keeps of an input.
int input_bits(kzoo_precision declared);

// Whether `a` may be less accurate than `b` for such matrices. Compares in this order: bits of
// sums, bits of inputs, range of inputs, norm-wise or not. On f16 matrices fp16, tf32 and fp32 are
// equal, since all hold every input.
bool is_less_precise(kzoo_precision a, kzoo_precision b, const element_types& types);

// Whether the problem accepts this precision: as precise as its types' usual one, or allowed.
bool takes(const problem& p, kzoo_precision declared);
// The accepted precisions: "fp32", "fp32 or tf32".
std::string taken_names(const problem& p);

}  // namespace kzoo
