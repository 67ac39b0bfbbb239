// Which epilogues and scales plugin cublaslt takes, and what they are in the library's terms.
#include <libraries/cublaslt/extras.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "support/catch.hpp"

namespace {

using common::lt_activation;
using common::lt_scaling;

constexpr kzoo_scale_block kRows{1, 128}, kSquares{128, 128};

kzoo_problem problem_of(kzoo_type inputs, kzoo_type output) {
  kzoo_problem p{};
  p.m = 64;
  p.n = 96;
  p.k = 304;
  p.type_a = p.type_b = inputs;
  p.type_c = output;
  p.lda = p.ldb = 304;
  p.ldc = p.n;
  p.alpha = 1;
  p.alignment = 256;
  return p;
}

std::uint32_t add_operand(kzoo_problem& p, std::string_view name, kzoo_type type, std::int64_t rows,
                          std::int64_t cols, std::int64_t ld) {
  kzoo_operand& x = p.operands[p.operand_count];
  name.copy(x.name, sizeof x.name - 1);
  x.type = type;
  x.rows = rows;
  x.cols = cols;
  x.ld = ld;
  return p.operand_count++;
}

void add_stage(kzoo_problem& p, kzoo_stage_kind kind, std::uint32_t operand = 0) {
  p.epilogue[p.stage_count++] = {kind, operand, 0, 0};
}

void add_bias(kzoo_problem& p, kzoo_type type) {
  add_stage(p, KZOO_STAGE_ADD, add_operand(p, "bias", type, 1, p.n, p.n));
}

kzoo_problem with_stages(kzoo_type inputs, kzoo_type output, bool has_bias,
                         std::initializer_list<kzoo_stage_kind> kinds) {
  kzoo_problem p = problem_of(inputs, output);
  if (has_bias) add_bias(p, common::lt_bias_type(p));
  for (const kzoo_stage_kind kind : kinds) add_stage(p, kind);
  return p;
}

kzoo_problem with_outer_scales(bool rows_first, std::int64_t m, std::int64_t n) {
  kzoo_problem p = problem_of(KZOO_E4M3, KZOO_BF16);
  p.m = m;
  p.n = n;
  const auto add_rows = [&] {
    add_stage(p, KZOO_STAGE_MULTIPLY, add_operand(p, "row_scale", KZOO_F32, m, 1, 1));
  };
  if (rows_first) add_rows();
  add_stage(p, KZOO_STAGE_MULTIPLY, add_operand(p, "column_scale", KZOO_F32, 1, n, n));
  if (!rows_first) add_rows();
  return p;
}

void add_block_scales(kzoo_problem& p, std::string_view name, std::int64_t size,
                      kzoo_scale_block block) {
  const std::int64_t steps = (p.k + 127) / 128;
  if (block.extent == 1)
    add_operand(p, name, KZOO_F32, steps, size, (size + 3) / 4 * 4);
  else
    add_operand(p, name, KZOO_F32, (size + 127) / 128, steps, (steps + 3) / 4 * 4);
}
kzoo_problem with_block_scales(kzoo_scale_block a, kzoo_scale_block b, std::int64_t m = 64) {
  kzoo_problem p = problem_of(KZOO_E4M3, KZOO_BF16);
  p.m = m;
  p.scale_block_a = a;
  p.scale_block_b = b;
  add_block_scales(p, "scale_a", p.m, a);
  add_block_scales(p, "scale_b", p.n, b);
  return p;
}

std::string objection_to(const kzoo_problem& p) {
  const char* const words = common::extras_of(p).objection;
  return words == nullptr ? "" : words;
}
bool takes(const kzoo_problem& p) { return objection_to(p).empty(); }

}  // namespace

TEST_CASE("a product alone has no extras", "[cublaslt]") {
  const common::lt_extras none = common::extras_of(problem_of(KZOO_F32, KZOO_F32));
  CHECK(none.objection == nullptr);
  CHECK(none.bias == common::kNoOperand);
  CHECK(none.activation == lt_activation::none);
  CHECK_FALSE(none.scales_are_operands());
}

TEST_CASE("a bias, an activation, or both in this order", "[cublaslt]") {
  const kzoo_problem both = with_stages(KZOO_BF16, KZOO_BF16, true, {KZOO_STAGE_RELU});
  CHECK(takes(both));
  CHECK(common::extras_of(both).bias == 0);
  CHECK(common::extras_of(both).activation == lt_activation::relu);
  const kzoo_problem activation = with_stages(KZOO_F32, KZOO_F32, false, {KZOO_STAGE_GELU_TANH});
  CHECK(takes(activation));
  CHECK(common::extras_of(activation).bias == common::kNoOperand);
  CHECK(common::extras_of(activation).activation == lt_activation::gelu);
  CHECK(takes(with_stages(KZOO_F16, KZOO_F16, true, {})));
  CHECK_FALSE(takes(with_stages(KZOO_F16, KZOO_F16, true, {KZOO_STAGE_SILU})));
  CHECK_FALSE(takes(with_stages(KZOO_F16, KZOO_F16, true, {KZOO_STAGE_RELU, KZOO_STAGE_RELU})));
  kzoo_problem after = with_stages(KZOO_BF16, KZOO_BF16, false, {KZOO_STAGE_RELU});
  add_bias(after, KZOO_BF16);
  CHECK_FALSE(takes(after));
}

TEST_CASE("what is added has an element for each column", "[cublaslt]") {
  kzoo_problem of_rows = problem_of(KZOO_BF16, KZOO_BF16), matrix = of_rows;
  add_stage(of_rows, KZOO_STAGE_ADD, add_operand(of_rows, "row_bias", KZOO_BF16, of_rows.m, 1, 1));
  add_stage(matrix, KZOO_STAGE_ADD,
            add_operand(matrix, "residual", KZOO_BF16, matrix.m, matrix.n, matrix.n));
  CHECK_FALSE(takes(of_rows));
  CHECK_FALSE(takes(matrix));
}

TEST_CASE("a bias has the type of C, but is bf16 where fp8 products are fp32", "[cublaslt]") {
  const auto takes_bias = [](kzoo_type inputs, kzoo_type output, kzoo_type bias) {
    kzoo_problem p = problem_of(inputs, output);
    add_bias(p, bias);
    return takes(p);
  };
  CHECK(takes_bias(KZOO_BF16, KZOO_F32, KZOO_F32));
  CHECK_FALSE(takes_bias(KZOO_BF16, KZOO_BF16, KZOO_F32));
  CHECK(takes_bias(KZOO_E4M3, KZOO_BF16, KZOO_BF16));
  CHECK(takes_bias(KZOO_E4M3, KZOO_F32, KZOO_BF16));
  CHECK_FALSE(takes_bias(KZOO_E4M3, KZOO_F32, KZOO_F32));
}

TEST_CASE("GELU by erf is close enough to that by tanh in 16 bits", "[cublaslt]") {
  CHECK(takes(with_stages(KZOO_BF16, KZOO_BF16, true, {KZOO_STAGE_GELU})));
  CHECK(takes(with_stages(KZOO_F16, KZOO_F16, false, {KZOO_STAGE_GELU})));
  CHECK_FALSE(takes(with_stages(KZOO_F32, KZOO_F32, true, {KZOO_STAGE_GELU})));
  CHECK_FALSE(takes(with_stages(KZOO_BF16, KZOO_F32, false, {KZOO_STAGE_GELU})));
}

TEST_CASE("before a bias or GELU nothing is rounded to 16 bits", "[cublaslt]") {
  const auto takes_unaligned = [](kzoo_type output, bool has_bias,
                                  std::initializer_list<kzoo_stage_kind> kinds) {
    kzoo_problem p = with_stages(KZOO_BF16, output, has_bias, kinds);
    p.lda = 309;
    return takes(p);
  };
  CHECK_FALSE(takes_unaligned(KZOO_BF16, true, {}));
  CHECK_FALSE(takes_unaligned(KZOO_BF16, true, {KZOO_STAGE_RELU}));
  CHECK_FALSE(takes_unaligned(KZOO_BF16, false, {KZOO_STAGE_GELU}));
  CHECK_FALSE(takes_unaligned(KZOO_BF16, false, {KZOO_STAGE_GELU_TANH}));
  CHECK(takes_unaligned(KZOO_BF16, false, {}));
  CHECK(takes_unaligned(KZOO_BF16, false, {KZOO_STAGE_RELU}));
  CHECK(takes_unaligned(KZOO_F32, true, {KZOO_STAGE_GELU_TANH}));
  const kzoo_problem aligned = with_stages(KZOO_F16, KZOO_F16, true, {KZOO_STAGE_GELU});
  const auto takes_with = [&aligned](auto member, auto value) {
    kzoo_problem p = aligned;
    p.*member = value;
    return takes(p);
  };
  CHECK(takes_with(&kzoo_problem::ldc, 104));
  CHECK_FALSE(takes_with(&kzoo_problem::ldc, 100));
  CHECK_FALSE(takes_with(&kzoo_problem::ldb, 300));
  // Nor are rows whose end is not aligned, nor a product that is no sum.
  CHECK_FALSE(takes_with(&kzoo_problem::k, 300));
  CHECK_FALSE(takes_with(&kzoo_problem::n, 92));
  CHECK(takes_with(&kzoo_problem::m, 63));
  kzoo_problem outer = aligned;
  outer.layout_a = KZOO_COLUMN_MAJOR;
  outer.lda = outer.m;
  outer.ldb = outer.n;
  CHECK(takes(outer));
  outer.m = 63;
  CHECK_FALSE(takes(outer));
  outer.m = 64;
  outer.k = 1;
  CHECK_FALSE(takes(outer));
  CHECK_FALSE(takes_with(&kzoo_problem::stride_b, 1 << 20 | 4));
  CHECK_FALSE(takes_with(&kzoo_problem::alignment, 8));
}

TEST_CASE("factors of rows and columns are scales of fp8 matrices", "[cublaslt]") {
  for (const bool rows_first : {true, false})
    for (const auto& [m, n] : {std::pair{64, 96}, {64, 64}, {1, 96}, {64, 1}, {1, 1}}) {
      CAPTURE(rows_first, m, n);
      const kzoo_problem p = with_outer_scales(rows_first, m, n);
      const common::lt_extras found = common::extras_of(p);
      CHECK(takes(p));
      CHECK(found.scaling_a == lt_scaling::vector);
      CHECK(found.scaling_b == lt_scaling::vector);
      CHECK(p.operands[found.scales_a].rows == m);
      CHECK(p.operands[found.scales_b].cols == n);
    }
  kzoo_problem added = with_outer_scales(true, 64, 96), wide = added, twice = added, more = added;
  added.beta = 1;
  CHECK_FALSE(takes(added));
  wide.type_a = wide.type_b = KZOO_BF16;
  CHECK_FALSE(takes(wide));
  twice.epilogue[0].operand = twice.epilogue[1].operand;
  CHECK_FALSE(takes(twice));
  add_stage(more, KZOO_STAGE_RELU);
  CHECK_FALSE(takes(more));
}

TEST_CASE("scales of blocks, but not of squares in both matrices", "[cublaslt]") {
  const common::lt_extras found = common::extras_of(with_block_scales(kRows, kSquares));
  CHECK(found.objection == nullptr);
  CHECK(found.scaling_a == lt_scaling::blocks_1x128);
  CHECK(found.scaling_b == lt_scaling::blocks_128x128);
  CHECK(found.scales_a == 0);
  CHECK(found.scales_b == 1);
  CHECK(takes(with_block_scales(kRows, kRows)));
  CHECK(takes(with_block_scales(kSquares, kRows)));
  CHECK_FALSE(takes(with_block_scales(kSquares, kSquares)));
  CHECK_FALSE(takes(with_block_scales(kRows, {1, 64})));
  CHECK_FALSE(takes(with_block_scales(kRows, {64, 128})));
  CHECK_FALSE(takes(with_block_scales(kRows, {})));
}

TEST_CASE("scales of blocks lie as cuBLASLt has them", "[cublaslt]") {
  CHECK_FALSE(takes(with_block_scales(kRows, kRows, 63)));
  kzoo_problem apart = with_block_scales(kRows, kSquares), apart_too = apart, odd = apart;
  apart.operands[0].ld += 4;
  CHECK_FALSE(takes(apart));
  apart_too.operands[1].rows = 2;
  CHECK(takes(apart_too));
  apart_too.operands[1].ld += 4;
  CHECK_FALSE(takes(apart_too));
  odd.alignment = 4;
  CHECK_FALSE(takes(odd));
  kzoo_problem wide = with_block_scales(kRows, kRows);
  wide.type_a = wide.type_b = KZOO_BF16;
  CHECK_FALSE(takes(wide));
}
