#include "core/operands.hpp"

#include <kzoo/stages.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace kzoo {

namespace {

struct contents {
  data::content a, b, c;
};

// From K = 512 on, about 341 sparse signs along k are nonzero; 512 is nine deviations more.
constexpr std::int64_t kDense = 512;

// The fraction bits of the next narrower format than f32 or f64, plus two.
constexpr std::uint64_t kWiderThanTf32 = 12, kWiderThanFp32 = 26;

// i32: products that are exact in fp32, and sums that are not. f32, f64: inputs that no narrower
// format holds exactly. Others: partial sums that rise and fall again, so that narrower
// accumulators lose bits: above 2^24 for i8 (too large for fp32), far above 2^11 for f16 and bf16,
// up to 2^19 for fp8.
contents probe_of(kzoo_type type) {
  using enum data::content;
  switch (type) {
    case KZOO_I32: return {odd, odd, odd};
    case KZOO_F64:
    case KZOO_F32: return {odd, sparse_signs, signs};
    case KZOO_I8:
    case KZOO_E4M3:
    case KZOO_E5M2: return {positive_then_negative, positive, signs};
    default: return {positive_then_negative, bits, signs};
  }
}

contents contents_of(const problem& p) {
  using enum data::content;
  if (p.data.kind == fill::probe) return probe_of(p.dtype.a);
  if (p.data.kind == fill::stale)
    return is_integer(p.dtype) ? contents{integers, integers, whole_range}
                               : contents{uniform, uniform, scaled};
  static constexpr std::array<std::pair<fill, contents>, 18> kContents{{
      {fill::integers, {integers, integers, integers}},
      {fill::signs, {signs, sparse_signs, signs}},
      {fill::zeros, {zeros, zeros, zeros}},
      {fill::ones, {ones, ones, ones}},
      {fill::normal, {normal, normal, normal}},
      {fill::sparse, {sparse, sparse, sparse}},
      {fill::powers, {powers, powers, powers}},
      {fill::few_bits, {few_bits, few_bits, few_bits}},
      {fill::specials, {specials, specials, specials}},
      {fill::probe_b, {sparse_signs, odd, signs}},  // for f32 and f64
      {fill::lone, {odd, sign_in_col, signs}},
      {fill::lone_b, {sign_in_row, odd, signs}},
      {fill::full, {whole_range, integers, whole_range}},
      {fill::full_b, {integers, whole_range, whole_range}},
      {fill::scaled, {scaled, scaled, uniform}},
      {fill::uneven, {scaled, scaled, uniform}},
      {fill::unequal, {large_first_col, zero_first_row, uniform}},
      {fill::unequal_b, {zero_first_col, large_first_row, uniform}},
  }};
  const auto* const found =
      std::ranges::find(kContents, p.data.kind, &std::pair<fill, contents>::first);
  return found == kContents.end() ? contents{uniform, uniform, uniform} : found->second;
}

// Powers of two by which fill::scaled and fill::uneven multiply A, B and block scales.
struct exponents {
  std::int64_t a = 0, b = 0, scale_a = 0, scale_b = 0;
};
exponents exponents_of(const problem& p) {
  constexpr std::int64_t kOfScales = 20, kInFp16 = 8;
  if (p.data.kind != fill::scaled && p.data.kind != fill::uneven) return {};
  const auto number = static_cast<std::int64_t>(p.data.parameter);
  const bool may_be_fp16 = p.dtype.a == KZOO_F16 || p.dtype.b == KZOO_I4;  // weights times scales
  const std::int64_t of_scales = may_be_fp16 ? kInFp16 : kOfScales;
  const std::int64_t against = number > 0 ? -of_scales : of_scales;
  const int b = p.data.kind == fill::uneven ? -1 : 1;
  exponents all{number, b * number, against, b * against};
  if (p.dtype.b == KZOO_I4) all.b = 0;
  if (p.scale_block_a.empty()) all.scale_a = 0;
  if (p.scale_block_b.empty()) all.scale_b = 0;
  return all;
}

// The number of bits of odd integers: all of the type, or more than the next narrower format has.
std::uint64_t odd_bits(const problem& p, kzoo_type type) {
  if (has_lone_products(p.data.kind)) return static_cast<std::uint64_t>(stored_bits(type)) + 1;
  return type == KZOO_F64 ? kWiderThanFp32 : kWiderThanTf32;
}

// The parameter of `inside` for A or B.
std::uint64_t parameter_of(data::content inside, const problem& p, kzoo_type type, bool is_b) {
  if (inside == data::content::odd) return odd_bits(p, type);
  if (inside == data::content::sparse_signs) return static_cast<std::uint64_t>(p.k / kDense);
  if (inside == data::content::sparse) return static_cast<std::uint64_t>(p.data.parameter * 0x1p32);
  if (inside == data::content::scaled && p.data.kind != fill::stale)
    return static_cast<std::uint64_t>(is_b ? exponents_of(p).b : exponents_of(p).a);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(p.data.parameter));
}

// An epilogue operand's content: like A and B, integers if sums must be exact.
data::content content_of_named(const problem& p) {
  using enum data::content;
  switch (p.data.kind) {
    case fill::integers:
    case fill::signs:
    case fill::probe:
    case fill::probe_b:
    case fill::lone:
    case fill::lone_b: return integers;
    case fill::zeros: return zeros;
    case fill::ones: return ones;
    case fill::scaled: return scaled;
    default: return uniform;
  }
}

// Numbers of the matrices: each gets its own key.
constexpr std::int64_t kA = 0, kB = 1, kC = 2, kScalesOfA = 3, kScalesOfB = 4, kOffsets = 5,
                       kFirstStage = 6;

std::uint64_t key_of(const problem& p, std::int64_t number, std::string_view name) {
  return data::hash(p.seed + (p.renewed == name ? 1 : 0), number);
}

data::matrix stored(const epilogue_stage& stage, const problem& p) {
  data::matrix x{stage.type, content_of_named(p), 1, p.n, p.n, 0};
  // Larger than the products' range; even with two factors C stays in fp16's range.
  constexpr std::uint64_t kOfTerms = 8, kOfFactors = 4;
  if (x.inside == data::content::scaled) x.parameter = adds(stage.kind) ? kOfTerms : kOfFactors;
  if (x.type == 0) x.type = usual_operand_type(stage_kind_of(stage.kind), p.dtype.c);
  x.key = key_of(p, kFirstStage + static_cast<std::int64_t>(stage.kind), name_of(stage.kind));
  if (stage.kind == stage_kind::row_bias || stage.kind == stage_kind::row_scale) {
    x.rows = p.m;
    x.cols = x.ld = 1;
  } else if (stage.kind == stage_kind::residual) {
    x.rows = p.m;
    x.ld = p.n + 4 * p.padding;
    x.count = p.batch;
    if (p.batch > 1) x.stride = p.m * x.ld + 4 * p.batch_padding;
  }
  return x;
}

// Content of scales: one or two for fill::integers, ones for wider integers.
data::content content_of_scales(const problem& p) {
  using enum data::content;
  if (p.data.kind == fill::integers) return one_or_two;
  return has_integers(p.data.kind) ? ones : scales;
}

// The scales of x (A or B) with `size` rows (columns), stored as abi.h says.
data::matrix stored_scales(const problem& p, const data::matrix& x, const scale_block& block,
                           std::int64_t size, std::int64_t number) {
  constexpr std::int64_t kAligned = 4;  // rows of f32 start at multiples of 16 bytes
  const auto parts = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
  std::int64_t rows = parts(size, block.extent), cols = parts(p.k, block.depth);
  if (block.extent == 1) std::swap(rows, cols);
  const std::int64_t ld = parts(cols, kAligned) * kAligned;
  const bool is_of_b = number == kScalesOfB;
  data::matrix scales{KZOO_F32, content_of_scales(p),
                      rows,     cols,
                      ld,       key_of(p, number, kOperandsOfProduct[is_of_b ? 1 : 0])};
  const exponents powers = exponents_of(p);
  scales.parameter = static_cast<std::uint64_t>(is_of_b ? powers.scale_b : powers.scale_a);
  scales.count = x.count;
  if (x.count > 1) scales.stride = rows * ld;
  return scales;
}

data::matrix stored_offsets(const problem& p) {
  const std::int64_t count = p.groups + 1;
  return {KZOO_I32, data::content::offsets,
          1,        count,
          count,    key_of(p, kOffsets, kOperandsOfProduct[2]),
          false,    data::offsets_parameter(p.m, p.group_rows)};
}

void add_operands(const problem& p, kzoo_problem& abi) {
  const std::vector<named_operand> all = named_operands(p);
  for (const named_operand& operand : all) {
    const data::matrix& x = operand.stored;
    kzoo_operand& to = abi.operands[abi.operand_count++];
    operand.name.copy(to.name, sizeof to.name - 1);
    to.type = x.type;
    to.rows = x.rows;
    to.cols = x.cols;
    to.ld = x.ld;
    to.stride = x.stride;
  }
  auto next = static_cast<std::uint32_t>(all.size() - epilogue_operands(p).size());
  for (const epilogue_stage& stage : p.epilogue) {
    const std::uint32_t operand = has_operand(stage.kind) ? next++ : 0;
    abi.epilogue[abi.stage_count++] = {stage_kind_of(stage.kind), operand, stage.low, stage.high};
  }
}

kzoo_scale_block to_abi(const scale_block& block) {
  return {static_cast<std::uint32_t>(block.extent), static_cast<std::uint32_t>(block.depth)};
}

}  // namespace

int exponent_of_products(const problem& p) {
  const exponents powers = exponents_of(p);
  return static_cast<int>(powers.a + powers.b + powers.scale_a + powers.scale_b);
}

std::vector<named_operand> named_operands(const problem& p) {
  std::vector<named_operand> all;
  const operands o = operands_of(p);
  const auto& [scale_a, scale_b, offsets] = kOperandsOfProduct;
  if (o.a.extent > 0) all.push_back({scale_a, o.a.scales});
  if (o.b.extent > 0) all.push_back({scale_b, o.b.scales});
  if (p.groups > 0) all.push_back({offsets, o.offsets});
  std::ranges::copy(epilogue_operands(p), std::back_inserter(all));
  return all;
}

std::vector<named_operand> epilogue_operands(const problem& p) {
  std::vector<named_operand> all;
  for (const epilogue_stage& stage : p.epilogue)
    if (has_operand(stage.kind)) all.push_back({name_of(stage.kind), stored(stage, p)});
  return all;
}

std::vector<named_operand> inputs_of(const problem& p) {
  const operands o = operands_of(p);
  std::vector<named_operand> all{{"A", o.a}, {"B", o.b}};
  std::ranges::copy(named_operands(p), std::back_inserter(all));
  return all;
}

operands operands_of(const problem& p) {
  const contents inside = contents_of(p);
  const auto name_of = [](std::int64_t which) {
    return which == kA ? "A" : which == kB ? "B" : "C";
  };
  const auto matrix = [&](kzoo_type type, data::content content, std::int64_t rows,
                          std::int64_t cols, bool transposed, std::int64_t ld, std::int64_t which,
                          std::int64_t count, std::int64_t stride) {
    if (transposed) std::swap(rows, cols);
    const std::int64_t each = elements_in_word(type);
    return data::matrix{type,       content,
                        rows,       cols / each,
                        ld / each,  key_of(p, which, name_of(which)),
                        transposed, parameter_of(content, p, type, which == kB),
                        count,      stride / each};
  };
  const auto scaled = [&](const data::matrix& x, const scale_block& block, std::int64_t size,
                          std::int64_t number) {
    data::scaled_matrix f{x, number == kScalesOfB};
    if (block.empty()) return f;
    f.extent = block.extent;
    f.depth = block.depth;
    f.scales = stored_scales(p, x, block, size, number);
    return f;
  };
  const bool is_poisoned = p.beta == 0.0 && p.data.kind != fill::stale;
  const data::content c = is_poisoned ? data::content::poison : inside.c;
  data::matrix a = matrix(p.dtype.a, inside.a, p.m, p.k, is_a_transposed(p.layout), p.lda(), kA,
                          p.count_a(), p.stride_a());
  data::matrix b = matrix(p.dtype.b, inside.b, p.k, p.n, is_b_transposed(p.layout), p.ldb(), kB,
                          p.count_b(), p.stride_b());
  data::matrix of_c = matrix(p.dtype.c, c, p.m, p.n, false, p.ldc(), kC, p.batch, p.stride_c());
  a.spread = b.spread = of_c.spread = static_cast<std::uint64_t>(p.data.spread);
  a.rows_key = of_c.rows_key = ~a.key;
  if (p.dtype.b != KZOO_I4) b.cols_key = of_c.cols_key = ~b.key;
  return {scaled(a, p.scale_block_a, p.m, kScalesOfA), scaled(b, p.scale_block_b, p.n, kScalesOfB),
          of_c, stored_offsets(p)};
}

kzoo_problem to_abi(const problem& p) {
  kzoo_problem abi = {};
  abi.struct_size = sizeof abi;
  abi.m = p.m;
  abi.n = p.n;
  abi.k = p.k;
  abi.lda = p.lda();
  abi.ldb = p.ldb();
  abi.ldc = p.ldc();
  abi.type_a = p.dtype.a;
  abi.type_b = p.dtype.b;
  abi.type_c = p.dtype.c;
  abi.layout_a = is_a_transposed(p.layout) ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  abi.layout_b = is_b_transposed(p.layout) ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
  abi.layout_c = KZOO_ROW_MAJOR;
  abi.alpha = p.alpha;
  abi.beta = p.beta;
  abi.alignment = kMatrixAlignment;
  if (p.scale_a != 1) abi.scale_a = p.scale_a;
  if (p.scale_b != 1) abi.scale_b = p.scale_b;
  if (p.batch > 1) {
    abi.batch = p.batch;
    abi.stride_a = p.stride_a();
    abi.stride_c = p.stride_c();
  }
  abi.stride_b = p.stride_b();
  add_operands(p, abi);
  abi.scale_block_a = to_abi(p.scale_block_a);
  abi.scale_block_b = to_abi(p.scale_block_b);
  abi.groups = p.groups;
  return abi;
}

std::int64_t most_terms(const problem& p) {
  if (has_lone_products(p.data.kind)) return 1;
  const contents inside = contents_of(p);
  const bool sparse =
      inside.a == data::content::sparse_signs || inside.b == data::content::sparse_signs;
  return sparse ? std::min(p.k, kDense) : p.k;
}

}  // namespace kzoo
